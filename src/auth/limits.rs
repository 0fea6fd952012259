//! Limits of a token's platform calls, in addition to its scopes. Intended for agents.

use std::borrow::Cow;

pub use super::confirm::Confirm;
use crate::catalog::graphql::is_query;
use crate::terms::named;
use crate::util::name_set::Names;

/// The maximum number of actions in a token.
pub const MAX_ACTIONS: usize = 100;

named! {
    /// The HTTP methods that a caller may use in platform calls.
    #[derive(Default)]
    Access:
    /// `GET`, `HEAD` and GraphQL queries.
    Read = "read",
    /// All methods.
    #[default]
    Write = "write",
}

impl Access {
    /// Whether a request with this method is allowed. `action` is the key of the called action, if
    /// any.
    pub fn allows(self, method: &str, action: Option<&str>) -> bool {
        self == Self::Write || matches!(method, "GET" | "HEAD") || action.is_some_and(is_query)
    }
}

/// The limits of a caller's platform calls. By default, there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// The allowed methods.
    pub access: Access,
    /// The allowed actions: `platform/key`, or `platform/prefix*` for all keys with this prefix.
    /// `None` allows all.
    pub actions: Option<Names>,
    /// Which calls need the user's approval; `None` if no call does.
    pub confirm: Option<Confirm>,
}

impl Limits {
    /// Allows every call without approval.
    pub const NONE: &'static Self = &Self { access: Access::Write, actions: None, confirm: None };

    /// Whether the caller may do everything that its scopes allow, even if calls need approval.
    pub const fn is_none(&self) -> bool {
        matches!(self, Self { access: Access::Write, actions: None, .. })
    }

    /// Whether the caller may run an action.
    pub fn allows(&self, platform: &str, key: &str, method: &str) -> bool {
        self.access.allows(method, Some(key)) && self.includes_action(platform, key)
    }

    /// Checks a platform call. `action` is the platform and the key of an action, or `None` for a
    /// request through the proxy. The error is a sentence for the caller.
    pub fn permit(&self, method: &str, action: Option<(&str, &str)>) -> Result<(), String> {
        match action {
            None if self.actions.is_some() => {
                return Err("The token is limited to `actions`: it can run these actions, but can't use the proxy.".to_owned());
            }
            Some((platform, key)) if !self.includes_action(platform, key) => {
                return Err(format!(
                    "The token is limited to `actions`, which do not include `{platform}/{key}`: see `GET /v1/whoami`."
                ));
            }
            // A request without an action has no description that the user could approve.
            None if self.confirm.is_some() && !Access::Read.allows(method, None) => {
                return Err(format!(
                    "The user must approve each change, and a {method} request through the proxy has no description to approve: run an action instead."
                ));
            }
            _ => {}
        }
        if self.access.allows(method, action.map(|(_, key)| key)) {
            return Ok(());
        }
        Err(format!(
            "The token has the access `read`; a {method} request to the platform needs the access `write`."
        ))
    }

    /// Whether the action is one of the allowed actions.
    pub fn includes_action(&self, platform: &str, key: &str) -> bool {
        let Some(actions) = &self.actions else { return true };
        actions.all().into_iter().any(|action| {
            let key_pattern = action.strip_prefix(platform).and_then(|rest| rest.strip_prefix('/'));
            key_pattern.is_some_and(|key_pattern| match key_pattern.strip_suffix('*') {
                Some(prefix) => key.starts_with(prefix),
                None => key_pattern == key,
            })
        })
    }

    /// A string for cache keys. Limits that allow different actions have different strings; without
    /// limits, it is empty.
    pub fn fingerprint(&self) -> Cow<'_, str> {
        if self.is_none() {
            return "".into();
        }
        let actions = self.actions.as_ref().map_or("", Names::as_str);
        // `*` alone is not a valid action, so it can't be confused with a list of actions.
        let all = if self.actions.is_none() { "*" } else { "" };
        format!("{}:{all}{actions}", self.access.as_str()).into()
    }
}

/// The distinct platforms of the actions.
pub fn platforms_in_actions(actions: &Names) -> Vec<String> {
    let mut platforms: Vec<String> = Vec::new();
    for action in actions.all() {
        let platform = action.split('/').next().unwrap_or_default();
        if !platforms.iter().any(|known| known == platform) {
            platforms.push(platform.to_owned());
        }
    }
    platforms
}

/// Checks an item of `actions`. Returns the fault as the end of a sentence.
pub fn check_action(text: &str) -> Option<&'static str> {
    let (platform, key) = text.split_once('/').unwrap_or_default();
    let stars = key.matches('*').count();
    let is_valid = crate::catalog::key::platform(&platform.to_ascii_lowercase()).is_none()
        && (1..=256).contains(&key.len())
        && (stars == 0 || stars == 1 && key.ends_with('*'))
        && !key.contains([',', '\n']);
    (!is_valid).then_some(
        "must be `platform/key` or `platform/prefix*`, without commas, such as `github/issuesList` or `github/issues*`",
    )
}

#[cfg(test)]
mod tests {
    use super::{Access, Confirm, Limits, check_action, platforms_in_actions};
    use crate::util::name_set::Names;

    fn limits(access: Access, actions: &[&str]) -> Limits {
        let actions: Vec<String> = actions.iter().map(|&action| action.to_owned()).collect();
        let actions = (!actions.is_empty()).then(|| Names::new(&actions));
        Limits { access, actions, confirm: None }
    }

    #[test]
    fn actions_are_allowed_by_key_or_by_prefix() {
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
    fn read_access_allows_safe_methods_only() {
        for (method, reads) in
            [("GET", true), ("HEAD", true), ("POST", false), ("OPTIONS", false), ("get", false)]
        {
            assert_eq!(limits(Access::Read, &["acme/a"]).allows("acme", "a", method), reads);
            assert!(Limits::NONE.allows("acme", "a", method));
        }
    }

    #[test]
    fn requests_without_an_action_that_would_need_approval_are_refused() {
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
    fn different_limits_have_different_fingerprints() {
        let all = [
            limits(Access::Write, &[]),
            limits(Access::Read, &[]),
            limits(Access::Write, &["a/b"]),
            limits(Access::Read, &["a/b"]),
            limits(Access::Read, &["a/b", "a/c"]),
            Limits { access: Access::Read, actions: Some(Names::default()), confirm: None },
        ];
        for (index, limits) in all.iter().enumerate() {
            assert!(
                all[index + 1..].iter().all(|other| other.fingerprint() != limits.fingerprint())
            );
        }
        assert_eq!(limits(Access::Write, &[]).fingerprint(), "");
    }

    #[test]
    fn actions_need_a_platform_and_a_key() {
        for good in ["acme/a", "GitHub/issues-*", "a/*", "a/x/y", "a/K.l_m"] {
            assert_eq!(check_action(good), None, "{good}");
        }
        for bad in
            ["", "acme", "acme/", "/a", "a b/c", "a/b,c", "a/*b", "a/b**", "*", "*/a", "a_b/c"]
        {
            assert!(check_action(bad).is_some(), "{bad}");
        }
        let actions = limits(Access::Write, &["b/x", "a/y", "b/z*"]).actions.unwrap();
        assert_eq!(platforms_in_actions(&actions), ["b", "a"]);
    }
}
