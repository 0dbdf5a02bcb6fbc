//! How the values of a row are stored, and how they become floats.

use half::bf16;

/// The stored form of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// IEEE 754 binary64, little-endian.
    F64,
    /// IEEE 754 binary32, little-endian.
    F32,
    /// IEEE 754 binary16, little-endian.
    F16,
    /// The upper half of a binary32, little-endian.
    Bf16,
    /// Log-probabilities of llama.cpp's KL-divergence base file: the scale and the lowest value of
    /// the row as two f32, then one u16 per value; value = lowest + scale × u16.
    LogProb16,
}

impl Encoding {
    /// Its name for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::LogProb16 => "16-bit log-probabilities",
        }
    }

    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 | Self::LogProb16 => 2,
        }
    }

    /// Bytes before the values of a row.
    pub(super) fn row_header(self) -> usize {
        if self == Self::LogProb16 { 8 } else { 0 }
    }

    /// Bytes from one row to the next. llama.cpp pads rows of odd length with one u16.
    pub(super) fn row_bytes(self, length: usize) -> Option<usize> {
        let stored =
            if self == Self::LogProb16 { length.checked_next_multiple_of(2)? } else { length };
        stored.checked_mul(self.size())?.checked_add(self.row_header())
    }

    /// The distance between two neighbouring stored values near a magnitude: the largest difference
    /// that storing equal values in this form can explain.
    pub(crate) fn spacing(self, magnitude: f64) -> f64 {
        let digits = match self {
            Self::F64 => 52,
            Self::F32 => 23,
            Self::F16 => 10,
            Self::Bf16 => 7,
            // 16 bits over a range of 16 below the largest value.
            Self::LogProb16 => return 16.0 / f64::from(u16::MAX),
        };
        if magnitude == 0.0 || !magnitude.is_finite() {
            return 0.0;
        }
        magnitude.abs().log2().floor().exp2() * f64::from(-digits).exp2()
    }

    /// Decodes a row to f32. Values of f64 are rounded.
    pub(super) fn decode(self, bytes: &[u8], row: &mut [f32]) {
        match self {
            Self::F64 => {
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    #[expect(clippy::cast_possible_truncation, reason = "as documented")]
                    let rounded = f64::from_le_bytes(*bytes) as f32;
                    *value = rounded;
                }
            }
            Self::F32 => {
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    *value = f32::from_le_bytes(*bytes);
                }
            }
            Self::F16 => {
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    *value = single_of_half(u16::from_le_bytes(*bytes));
                }
            }
            Self::Bf16 => {
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    *value = bf16::from_le_bytes(*bytes).to_f32();
                }
            }
            Self::LogProb16 => {
                let (header, bytes) = bytes.split_at(self.row_header());
                let [scale, lowest] = [&header[..4], &header[4..]]
                    .map(|bytes| bytes.first_chunk().map_or(f32::NAN, |b| f32::from_le_bytes(*b)));
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    *value = lowest + scale * f32::from(u16::from_le_bytes(*bytes));
                }
            }
        }
    }

    /// Decodes a row to f64, exactly.
    pub(super) fn decode_exactly(self, bytes: &[u8], row: &mut [f64], scratch: &mut [f32]) {
        if self == Self::F64 {
            for (value, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                *value = f64::from_le_bytes(*bytes);
            }
        } else {
            self.decode(bytes, scratch);
            for (value, single) in row.iter_mut().zip(scratch) {
                *value = f64::from(*single);
            }
        }
    }
}

/// The value of a binary16. Unlike the conversion of the crate `half`, it becomes vector code.
#[inline]
fn single_of_half(bits: u16) -> f32 {
    /// 2¹¹², the ratio of the smallest powers of both forms. The product is exact, also for
    /// denormal numbers.
    const RATIO: f32 = f32::from_bits((127 + 112) << 23);
    const NOT_FINITE: u32 = 0x7c00 << 13;
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = if magnitude >= NOT_FINITE { 0xff << 23 } else { 0 };
    f32::from_bits((f32::from_bits(magnitude) * RATIO).to_bits() | exponent | sign)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, bytes: &[u8], length: usize) -> Vec<f32> {
        let mut row = vec![9.0; length];
        encoding.decode(bytes, &mut row);
        row
    }

    #[test]
    fn each_form_is_decoded() {
        let single: Vec<u8> =
            [1.5_f32, -2.0, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let row = decoded(Encoding::F32, &single, 3);
        assert_eq!(row[..2], [1.5, -2.0]);
        assert!(row[2].is_nan());
        let double: Vec<u8> = [0.1_f64, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(decoded(Encoding::F64, &double, 2), [0.1_f32, 3.0]);
        let mut exact = [0.0; 2];
        Encoding::F64.decode_exactly(&double, &mut exact, &mut []);
        assert_eq!(exact, [0.1, 3.0]);
        // 0x3e00 is 1.5 and 0xc000 is -2 in binary16; 0x3fc0 and 0xc000 in bfloat16.
        assert_eq!(decoded(Encoding::F16, &[0x00, 0x3e, 0x00, 0xc0], 2), [1.5, -2.0]);
        assert_eq!(decoded(Encoding::Bf16, &[0xc0, 0x3f, 0x00, 0xc0], 2), [1.5, -2.0]);
    }

    #[test]
    fn every_half_is_decoded_exactly() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits).to_f32();
            let found = single_of_half(bits);
            assert!(found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()));
        }
    }

    #[test]
    fn log_probabilities_are_scaled_by_their_row() {
        let mut bytes: Vec<u8> = [0.5_f32, -8.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend([0_u16, 1, 16, 0].iter().flat_map(|x| x.to_le_bytes()));
        assert_eq!(Encoding::LogProb16.row_bytes(3), Some(bytes.len()));
        assert_eq!(decoded(Encoding::LogProb16, &bytes, 3), [-8.0, -7.5, 0.0]);
    }

    #[test]
    fn neighbouring_values_are_one_spacing_apart() {
        assert_eq!(Encoding::F32.spacing(-1.5), f64::from(f32::EPSILON));
        assert_eq!(Encoding::F64.spacing(1.0), f64::EPSILON);
        assert_eq!(Encoding::Bf16.spacing(30.0), 0.125);
        assert_eq!(Encoding::F16.spacing(30.0), 16.0 / 1024.0);
    }
}
