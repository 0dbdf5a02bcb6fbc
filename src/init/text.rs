//! The text of a file, with what was read from it.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// A text with its facts. Most files are the same in many commits, so each fact is read once.
pub(super) struct Text {
    text: Rc<str>,
    facts: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

/// What can be read from a text alone.
pub(super) trait Fact: 'static {
    /// Reads the fact. A text with errors is not an error: the parts that cannot be read are left
    /// out.
    fn read(text: &Text) -> Self;
}

impl Text {
    pub(super) fn new(text: impl Into<Rc<str>>) -> Rc<Self> {
        Rc::new(Self { text: text.into(), facts: RefCell::default() })
    }

    /// A fact about the text; read on the first call, remembered for the later ones.
    pub(super) fn fact<F: Fact>(&self) -> Rc<F> {
        let known = self.facts.borrow().get(&TypeId::of::<F>()).map(Rc::clone);
        let fact = known.unwrap_or_else(|| {
            let fact: Rc<dyn Any> = Rc::new(F::read(self));
            self.facts.borrow_mut().insert(TypeId::of::<F>(), Rc::clone(&fact));
            fact
        });
        fact.downcast().expect("facts are kept by their type")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static READ: Cell<u32> = const { Cell::new(0) };
    }

    struct Length(usize);

    impl Fact for Length {
        fn read(text: &Text) -> Self {
            READ.set(READ.get() + 1);
            Self(text.len())
        }
    }

    #[test]
    fn a_fact_is_read_once() {
        let text = Text::new("four");
        assert_eq!((text.fact::<Length>().0, text.fact::<Length>().0), (4, 4));
        assert_eq!(READ.get(), 1);
    }
}
