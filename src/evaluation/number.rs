//! Reads and writes numbers in JSON. JSON has no NaN and no infinity: the strings `"nan"`, `"inf"`
//! and `"-inf"` replace them. Fields use this with `#[serde(with = "number")]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number in JSON. NaN and infinities are `"nan"`, `"inf"` and `"-inf"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub(super) f64);

impl Number {
    /// Reads `nan`, `inf` or `-inf`; `None` for any other text.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        match text {
            "nan" => Some(Self(f64::NAN)),
            "inf" => Some(Self(f64::INFINITY)),
            "-inf" => Some(Self(f64::NEG_INFINITY)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Rust writes `NaN`, but `inf`.
        if self.0.is_nan() { f.write_str("nan") } else { write!(f, "{}", self.0) }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(self)
        }
    }
}

/// A JSON number or string.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum NumberOrText {
    Number(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(x) => Ok(Self(x)),
            NumberOrText::Text(text) => Self::of_text(&text).ok_or_else(|| {
                serde::de::Error::custom(format!("`{text}` is not nan, inf or -inf"))
            }),
        }
    }
}

/// A field type with numbers that may be NaN or infinite. `InJson` is the same type with a
/// [`Number`] instead of each `f64`.
pub(super) trait Numbers: Sized {
    type InJson: Serialize + for<'de> Deserialize<'de>;
    fn in_json(&self) -> Self::InJson;
    fn of(numbers: Self::InJson) -> Self;
}

impl Numbers for f64 {
    type InJson = Number;

    fn in_json(&self) -> Number {
        Number(*self)
    }

    fn of(number: Number) -> Self {
        number.0
    }
}

impl Numbers for [f64; 2] {
    type InJson = [Number; 2];

    fn in_json(&self) -> [Number; 2] {
        self.map(Number)
    }

    fn of(numbers: [Number; 2]) -> Self {
        numbers.map(|number| number.0)
    }
}

impl<T: Numbers> Numbers for Option<T> {
    type InJson = Option<T::InJson>;

    fn in_json(&self) -> Self::InJson {
        self.as_ref().map(T::in_json)
    }

    fn of(numbers: Self::InJson) -> Self {
        numbers.map(T::of)
    }
}

pub(super) fn serialize<T: Numbers, S: Serializer>(
    numbers: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    numbers.in_json().serialize(serializer)
}

pub(super) fn deserialize<'de, T: Numbers, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::InJson::deserialize(deserializer).map(T::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Fields {
        #[serde(with = "super")]
        one: f64,
        #[serde(with = "super", default)]
        pair: Option<[f64; 2]>,
    }

    #[test]
    fn nan_and_infinities_come_back() {
        let fields = Fields { one: f64::NAN, pair: Some([f64::NEG_INFINITY, 0.1]) };
        let text = serde_json::to_string(&fields).unwrap();
        assert_eq!(text, r#"{"one":"nan","pair":["-inf",0.1]}"#);
        let back: Fields = serde_json::from_str(&text).unwrap();
        assert!(back.one.is_nan());
        assert_eq!(back.pair, fields.pair);
        let lone: Fields = serde_json::from_str(r#"{"one":"inf"}"#).unwrap();
        assert_eq!((lone.one, lone.pair), (f64::INFINITY, None));
        assert!(serde_json::from_str::<Fields>(r#"{"one":"fast"}"#).is_err());
    }
}
