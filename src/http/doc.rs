//! The `OpenAPI` description of a parameter or a field, declared beside its check. Only builds with
//! the feature `cli`, which write the document, contain it.

/// A description; zero-sized unless the build writes the document.
#[derive(Debug, Clone, Copy)]
pub struct Doc {
    #[cfg(feature = "cli")]
    pub about: &'static str,
    #[cfg(feature = "cli")]
    pub default: Option<DefaultValue>,
    /// The names that a comma-separated list accepts; empty if it accepts any.
    #[cfg(feature = "cli")]
    pub items: &'static [&'static str],
}

/// The documented default of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum DefaultValue {
    Boolean(bool),
    Integer(u64),
    Text(&'static str),
    Texts(&'static [&'static str]),
}

#[cfg(feature = "cli")]
impl Doc {
    pub const fn new(about: &'static str) -> Self {
        Self { about, default: None, items: &[] }
    }

    pub const fn default(self, value: DefaultValue) -> Self {
        Self { default: Some(value), ..self }
    }

    pub const fn items(self, items: &'static [&'static str]) -> Self {
        Self { items, ..self }
    }
}

#[cfg(not(feature = "cli"))]
impl Doc {
    pub const fn new(_: &'static str) -> Self {
        Self {}
    }

    pub const fn default(self, _: DefaultValue) -> Self {
        self
    }

    pub const fn items(self, _: &'static [&'static str]) -> Self {
        self
    }
}
