//! Determines which requested scopes an authorization server did not grant.

/// Scopes that many servers omit from the response even if they grant them. They request an ID
/// token, claims in it, or a refresh token, and do not affect what the access token can do.
///
/// `OpenID` Connect Core 1.0 defines them in sections 5.4 and 11. Microsoft's servers never return
/// `offline_access`:
/// <https://learn.microsoft.com/en-us/answers/questions/806413/scope-offline-access-isnt-being-returned-in-the-to>.
/// Microsoft's own library does not expect it, nor `openid` and `profile`:
/// <https://github.com/AzureAD/microsoft-authentication-library-for-go/pull/445>. A product that
/// reported `offline_access` as missing: <https://github.com/OpenFn/lightning/issues/3363>. Google
/// returns `https://www.googleapis.com/auth/userinfo.email` for `email`, and a similar URL for
/// `profile`: <https://developers.google.com/identity/protocols/oauth2/scopes>.
const ID_TOKEN_SCOPES: [&str; 6] =
    ["openid", "offline_access", "profile", "email", "address", "phone"];

/// The resource to which a scope without a resource belongs at Microsoft:
/// <https://learn.microsoft.com/en-us/entra/identity-platform/scopes-oidc>.
const MICROSOFT_GRAPH: &str = "https://graph.microsoft.com/";

/// Microsoft's scope for all scopes in the app's registration. The response lists those scopes
/// instead: <https://learn.microsoft.com/en-us/entra/identity-platform/scopes-oidc>.
const REGISTERED_SCOPES: &str = "/.default";

/// Returns the requested scopes that were not granted.
pub fn missing(requested: &[String], granted: &[String]) -> Vec<String> {
    let is_granted = |requested: &&String| {
        ID_TOKEN_SCOPES.contains(&requested.as_str())
            || requested.ends_with(REGISTERED_SCOPES)
            || granted.iter().any(|granted| is_same_scope(requested, granted))
    };
    requested.iter().filter(|scope| !is_granted(scope)).cloned().collect()
}

fn is_same_scope(requested: &str, granted: &str) -> bool {
    if requested == granted {
        return true;
    }
    match (requested.strip_prefix(MICROSOFT_GRAPH), granted.strip_prefix(MICROSOFT_GRAPH)) {
        (Some(requested), None) => requested == granted,
        (None, Some(granted)) => requested == granted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_missing_if_the_access_token_lacks_it() {
        for (requested, granted, expected) in [
            ("read write", "read", "write"),
            ("read write", "write read", ""),
            ("read", "", "read"),
            ("Read", "read", "Read"),
            ("openid profile email address phone offline_access read", "read", ""),
            ("User.Read offline_access", "User.Read openid profile email", ""),
            ("https://graph.microsoft.com/Mail.Read", "Mail.Read", ""),
            ("Mail.Read", "https://graph.microsoft.com/Mail.Read", ""),
            ("Mail.Send", "https://graph.microsoft.com/Mail.Read", "Mail.Send"),
            ("https://graph.microsoft.com/.default", "User.Read", ""),
            ("https://other.example/Mail.Read", "Mail.Read", "https://other.example/Mail.Read"),
            ("read:openid", "", "read:openid"),
        ] {
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            assert_eq!(missing(&words(requested), &words(granted)), words(expected), "{requested}");
        }
    }
}
