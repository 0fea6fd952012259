//! The location of a value in the input.

/// A JSON Pointer (RFC 6901), serialized only when a fault is reported.
pub(super) struct Pointer<'p> {
    pub parent: Option<&'p Pointer<'p>>,
    pub name: Name<'p>,
}

#[derive(Clone, Copy)]
pub(super) enum Name<'p> {
    Text(&'p str),
    Index(usize),
}

impl<'p> Pointer<'p> {
    pub fn member(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), name: Name::Text(name) }
    }

    pub fn item(&'p self, index: usize) -> Self {
        Self { parent: Some(self), name: Name::Index(index) }
    }

    pub fn text(&self) -> String {
        let Some(parent) = self.parent else { return String::new() };
        let mut text = parent.text();
        text.push('/');
        match self.name {
            Name::Text(name) => text.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Name::Index(index) => text.push_str(&index.to_string()),
        }
        text
    }
}
