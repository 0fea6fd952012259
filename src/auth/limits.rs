//! What a token may do at platforms, besides what its scopes say: limits that people set for agents.

use std::borrow::Cow;

use crate::util::name_set::Names;

/// The most actions that a token may name.
pub const MAX_ACTIONS: usize = 100;

/// How much a caller may do at platforms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Call platforms by `GET` and `HEAD`.
    Read,
    /// Call platforms by every method.
    #[default]
    Write,
}

impl Access {
    /// The names of both.
    pub const NAMES: [&str; 2] = ["read", "write"];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The access of this name. Returns `None` for any other text.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Read, Self::Write].into_iter().find(|access| access.as_str() == name)
    }

    /// Whether it allows a call by this method.
    #[must_use]
    pub fn allows(self, method: &str) -> bool {
        self == Self::Write || matches!(method, "GET" | "HEAD")
    }
}

/// Which calls of an agent its user is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// All but `GET` and `HEAD`.
    Write,
    /// Of these, `DELETE` and actions that say that they take something away.
    Destructive,
}

/// The words of actions that take something away. Many platforms delete by `POST`.
const DESTRUCTIVE: [&str; 31] = [
    "archive",
    "ban",
    "cancel",
    "clear",
    "close",
    "deactivate",
    "delete",
    "deletes",
    "destroy",
    "detach",
    "disable",
    "discard",
    "drop",
    "empty",
    "erase",
    "evict",
    "expire",
    "flush",
    "kick",
    "overwrite",
    "purge",
    "remove",
    "removes",
    "reset",
    "revoke",
    "terminate",
    "trash",
    "truncate",
    "uninstall",
    "void",
    "wipe",
];

impl Confirm {
    /// The names of both.
    pub const NAMES: [&str; 2] = ["write", "destructive"];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }

    /// The one of this name. Returns `None` for any other text.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Write, Self::Destructive].into_iter().find(|own| own.as_str() == name)
    }

    /// Whether the user is asked about an action: by its method, its key and its title.
    #[must_use]
    pub fn is_about(self, method: &str, key: &str, title: &str) -> bool {
        let is_destructive = || {
            let says = |text: &str| words(text).any(|word| DESTRUCTIVE.contains(&word.as_str()));
            method == "DELETE" || says(key) || says(title)
        };
        !Access::Read.allows(method) && (self == Self::Write || is_destructive())
    }
}

/// The words of a text or of a name in camel case, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::new();
    let mut was_lower = false;
    for letter in text.chars() {
        if was_lower && letter.is_uppercase() {
            apart.push(' ');
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        apart.push(if letter.is_alphanumeric() { letter } else { ' ' });
    }
    let words: Vec<String> = apart.split_whitespace().map(str::to_lowercase).collect();
    words.into_iter()
}

/// The limits of a caller. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// By which methods it may call platforms.
    pub access: Access,
    /// The only actions that it may run, each as `platform/key`, or as `platform/prefix*` for all whose keys begin like that.
    pub actions: Option<Names>,
    /// Which calls its user is asked about first.
    pub confirm: Option<Confirm>,
}

impl Limits {
    /// Limits for a caller that has none.
    pub const NONE: &'static Self = &Self { access: Access::Write, actions: None, confirm: None };

    /// Whether the caller may do what its scopes allow, perhaps after its user was asked.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self { access: Access::Write, actions: None, .. })
    }

    /// Whether it may run this action.
    #[must_use]
    pub fn allows(&self, platform: &str, key: &str, method: &str) -> bool {
        self.access.allows(method) && self.names(platform, key)
    }

    /// Permits a call of a platform. `action` is the platform and the key of the action that is run; `None` for a request of the
    /// caller's own making.
    ///
    /// # Errors
    /// Which access is missing, as a sentence.
    pub fn permit(&self, method: &str, action: Option<(&str, &str)>) -> Result<(), String> {
        match action {
            None if self.actions.is_some() => {
                return Err("The token is limited to `actions`: it can run these, and send no other request to a platform.".to_owned());
            }
            Some((platform, key)) if !self.names(platform, key) => {
                return Err(format!(
                    "The token is limited to `actions`, and none of them is `{platform}/{key}`: see `GET /v1/whoami`."
                ));
            }
            // Nobody can tell a user what a request would do that no action describes.
            None if self.confirm.is_some() && !Access::Read.allows(method) => {
                return Err(format!(
                    "The user is asked before each change, and this calls the platform by {method} without an action: run an action instead."
                ));
            }
            _ => {}
        }
        if self.access.allows(method) {
            return Ok(());
        }
        Err(format!(
            "The token has the access `read`, and this calls the platform by {method}: it needs the access `write`."
        ))
    }

    /// Whether this is one of the actions that it is limited to.
    #[must_use]
    pub fn names(&self, platform: &str, key: &str) -> bool {
        let Some(actions) = &self.actions else { return true };
        actions.all().into_iter().any(|action| {
            let own = action.strip_prefix(platform).and_then(|rest| rest.strip_prefix('/'));
            own.is_some_and(|own| match own.strip_suffix('*') {
                Some(prefix) => key.starts_with(prefix),
                None => own == key,
            })
        })
    }

    /// A text that differs for any two limits that show different actions. Empty for none.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        if self.is_none() {
            return "".into();
        }
        let actions = self.actions.as_ref().map_or("", Names::as_str);
        // No action is called like that.
        let all = if self.actions.is_none() { "*" } else { "" };
        format!("{}:{all}{actions}", self.access.as_str()).into()
    }
}

/// The platforms of actions, each once.
#[must_use]
pub fn platforms_of(actions: &Names) -> Vec<String> {
    let mut platforms: Vec<String> = Vec::new();
    for action in actions.all() {
        let platform = action.split('/').next().unwrap_or_default();
        if !platforms.iter().any(|known| known == platform) {
            platforms.push(platform.to_owned());
        }
    }
    platforms
}

/// Checks an action that a caller is limited to.
#[must_use]
pub fn action(text: &str) -> Option<&'static str> {
    let (platform, key) = text.split_once('/').unwrap_or_default();
    let stars = key.matches('*').count();
    let is_good = crate::catalog::key::platform(&platform.to_ascii_lowercase()).is_none()
        && (1..=256).contains(&key.len())
        && (stars == 0 || stars == 1 && key.ends_with('*'))
        && !key.contains([',', '\n']);
    (!is_good).then_some(
        "must be `platform/key` or `platform/prefix*`, without commas, such as `github/issues-list` or `github/issues-*`",
    )
}

#[cfg(test)]
mod tests {
    use super::{Access, Confirm, Limits, action, platforms_of};
    use crate::util::name_set::Names;

    fn limits(access: Access, actions: &[&str]) -> Limits {
        let actions: Vec<String> = actions.iter().map(|&action| action.to_owned()).collect();
        let actions = (!actions.is_empty()).then(|| Names::new(&actions));
        Limits { access, actions, confirm: None }
    }

    #[test]
    fn an_action_is_allowed_by_its_whole_key_or_a_prefix() {
        for (actions, platform, key, is_allowed) in [
            (&[][..], "acme", "a", true),
            (&["acme/a"], "acme", "a", true),
            (&["acme/a"], "acme", "ab", false),
            (&["acme/a"], "acme-2", "a", false),
            (&["acme-2/a"], "acme", "a", false),
            (&["acme/a*"], "acme", "ab", true),
            (&["acme/a*"], "acme", "a", true),
            (&["acme/a*"], "acme", "b", false),
            (&["acme/*"], "acme", "b", true),
            (&["acme/*"], "other", "b", false),
            (&["acme/a/b*"], "acme", "a/bc", true),
            (&["acme/a", "other/b"], "other", "b", true),
            (&["acme/a", "other/b"], "other", "a", false),
        ] {
            let limits = limits(Access::Write, actions);
            assert_eq!(limits.allows(platform, key, "POST"), is_allowed, "{actions:?} {key}");
        }
    }

    #[test]
    fn whoever_may_only_read_calls_by_methods_that_are_safe() {
        for (method, reads) in
            [("GET", true), ("HEAD", true), ("POST", false), ("OPTIONS", false), ("get", false)]
        {
            assert_eq!(limits(Access::Read, &["acme/a"]).allows("acme", "a", method), reads);
            assert!(Limits::NONE.allows("acme", "a", method));
        }
    }

    #[test]
    fn a_user_is_asked_about_what_changes_or_takes_away() {
        for (method, key, title, write, destructive) in [
            ("GET", "deleteThing", "Delete a thing", false, false),
            ("HEAD", "x", "X", false, false),
            ("POST", "issuesCreate", "Create an issue", true, false),
            ("PUT", "thingsReplace", "Replace a thing", true, false),
            ("DELETE", "things", "Things", true, true),
            ("POST", "chatDelete", "Delete a message", true, true),
            ("POST", "chat.delete", "Chat", true, true),
            ("POST", "bulk_remove_members", "Members", true, true),
            ("POST", "x", "Remove members", true, true),
            ("POST", "issuesUndelete", "Restore an issue", true, false),
            ("PATCH", "OAuthTokensREVOKE", "Tokens", true, true),
            ("PATCH", "oauthTokensRevoke", "Tokens", true, true),
        ] {
            let asked = [Confirm::Write, Confirm::Destructive]
                .map(|confirm| confirm.is_about(method, key, title));
            assert_eq!(asked, [write, destructive], "{method} {key}");
        }
    }

    #[test]
    fn without_an_action_nothing_is_changed_that_a_user_would_be_asked_about() {
        let limits = Limits { confirm: Some(Confirm::Destructive), ..Limits::default() };
        for (method, action, is_permitted) in [
            ("GET", None, true),
            ("HEAD", None, true),
            ("POST", None, false),
            ("DELETE", None, false),
            ("DELETE", Some(("acme", "a")), true),
        ] {
            assert_eq!(limits.permit(method, action).is_ok(), is_permitted, "{method}");
        }
    }

    #[test]
    fn different_limits_have_different_names() {
        let all = [
            limits(Access::Write, &[]),
            limits(Access::Read, &[]),
            limits(Access::Write, &["a/b"]),
            limits(Access::Read, &["a/b"]),
            limits(Access::Read, &["a/b", "a/c"]),
            Limits { access: Access::Read, actions: Some(Names::default()), confirm: None },
        ];
        for (nth, one) in all.iter().enumerate() {
            assert!(all[nth + 1..].iter().all(|other| other.name() != one.name()));
        }
        assert_eq!(limits(Access::Write, &[]).name(), "");
    }

    #[test]
    fn actions_are_named_with_their_platform() {
        for good in ["acme/a", "GitHub/issues-*", "a/*", "a/x/y", "a/K.l_m"] {
            assert_eq!(action(good), None, "{good}");
        }
        for bad in
            ["", "acme", "acme/", "/a", "a b/c", "a/b,c", "a/*b", "a/b**", "*", "*/a", "a_b/c"]
        {
            assert!(action(bad).is_some(), "{bad}");
        }
        let actions = limits(Access::Write, &["b/x", "a/y", "b/z*"]).actions.unwrap();
        assert_eq!(platforms_of(&actions), ["b", "a"]);
    }
}
