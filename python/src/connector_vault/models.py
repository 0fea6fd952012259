# Written by `npm run python -- generate` from the OpenAPI document of the service.

from __future__ import annotations

from datetime import date
from typing import TypeAlias, Any, Literal

from connector_vault._model import Model
from pydantic import AwareDatetime, Field


class AuthField(Model):
    """
    A field that the user fills in.
    """

    name: str
    """
    Its name in requests to connect.
    """
    label: str
    """
    Its human-readable name.
    """
    description: str | None = None
    """
    Help with filling it in.
    """
    secret: bool
    """
    Whether its value must be hidden.
    """
    required: bool
    """
    Whether it must be filled in.
    """
    pattern: str | None = None
    """
    A regular expression that the whole value matches.
    """
    enum: list[str] | None = None
    """
    All allowed values; null for any.
    """
    default: str | None = None
    """
    The value if it is left empty.
    """


class PlatformAccount(Model):
    """
    An account at a platform.
    """

    id: str
    """
    The account's ID at the platform. It does not change.
    """
    name: str | None = None
    """
    The account's human-readable name at the platform, such as an email address or a user name. Null if it is not known, or if the service does not store names.
    """


class PendingAttempt(Model):
    """
    An attempt that waits for the user.
    """

    id: str
    """
    Identifies the attempt.
    """
    status: Literal['pending'] = 'pending'
    """
    Always `pending`.
    """
    authorization_url: str = Field(..., alias='authorizationUrl')
    """
    A link for the user. Its page asks them to confirm that they started this, and redirects to the platform. It works in one browser, until the attempt is over.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When the attempt expires: 10 minutes after it began.
    """


class ActionAnswer(Model):
    """
    A platform's response to an action.
    """

    status: int
    """
    The HTTP status of the platform's response.
    """
    headers: dict[str, str]
    """
    Its headers, with names in lower case.
    """
    body: Any = None
    """
    JSON as JSON, text as a string, anything else as `{ base64, contentType }`; null if there is none.
    """
    failed: bool | None = None
    """
    True if the platform's API is GraphQL and the body reports `errors`, which it can with status 200; else absent.
    """
    body_too_large: bool | None = Field(None, alias='bodyTooLarge')
    """
    True if the body has more than 8 MiB and is therefore null; else absent.
    """
    omitted: dict[str, Any] | None = None
    """
    The parts that do not fit into `maxBytes`: `parts`, each with a JSON Pointer, and a `hint`. Without parts, `select` selects nothing. Else absent.
    """


class AgentContinuation(Model):
    """
    The address where the user agrees or declines.
    """

    continue_url: str = Field(..., alias='continueUrl')
    """
    Where to redirect the user's browser. It works once.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    Until when it works: 60 seconds from now.
    """


class Branding(Model):
    """
    How an app is presented to its users. A member that is `null` has the value of the service's configuration.
    """

    name: str | None = None
    """
    The app's name.
    """
    logo: str | None = None
    """
    Its logo, as a `data:` URL.
    """
    color: str | None = None
    """
    The colour of buttons and links, such as `#1a2b3c`.
    """
    url: str | None = None
    """
    The app's address, which pages link to when an attempt has no `returnUrl`.
    """
    updated_at: AwareDatetime | None = Field(None, alias='updatedAt')
    """
    When it was last set; `null` if it never was.
    """


class WebhookTest(Model):
    """
    A receiver's response.
    """

    delivered: bool
    """
    Whether the status was a 2xx.
    """
    http_status: int | None = Field(None, alias='httpStatus')
    """
    The status of its response.
    """
    error: str | None = None
    """
    Why there was no response: `unreachable`, `timed_out` or `address_refused`.
    """
    duration_ms: int = Field(..., alias='durationMs')
    """
    The duration in milliseconds.
    """


class Replayed(Model):
    """
    The number of events that are sent.
    """

    queued: int
    """
    The number of events that are sent again.
    """
    next: str | None = None
    """
    The `from` of the next request; `null` if there are no more.
    """


class ConnectorDetailServer(Model):
    """
    A base address of the API.
    """

    url: str
    """
    An absolute URL. Each `{name}` in it is replaced by the field of that name.
    """
    description: str | None = None
    """
    What the server is for.
    """


class ConnectorDetailLicense(Model):
    """
    A licence.
    """

    name: str | None = None
    """
    Its name, or its SPDX identifier.
    """
    url: str | None = None
    """
    The address of its text.
    """


class ConnectorDetailVerifyRejectedWhen(Model):
    """
    A value in a JSON response.
    """

    pointer: str
    """
    Its position: a JSON Pointer.
    """
    value: Any = None
    """
    The value; an array lists several.
    """


class ConnectorDetailVerify(Model):
    """
    A request to the platform that checks credentials.
    """

    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | str
    """
    The HTTP method.
    """
    path: str
    """
    The path below the first server whose variables are all among the method's fields, or an absolute URL.
    """
    body: Any = None
    """
    The JSON body; null for none.
    """
    rejected: list[int]
    """
    The statuses with which the platform rejects credentials. All others, except 2xx, prove nothing.
    """
    rejected_when: ConnectorDetailVerifyRejectedWhen | None = Field(
        None, alias='rejectedWhen'
    )
    """
    The content of a response that rejects the credentials, with any status; null if none does.
    """


class ConnectorDetailAccount(Model):
    """
    A request to the platform that identifies the connected account.
    """

    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | str
    """
    The HTTP method.
    """
    path: str
    """
    The path below the first server whose variables are all among the method's fields, or an absolute URL.
    """
    body: Any = None
    """
    The JSON body; null for none.
    """
    id: str
    """
    The JSON Pointer of the account's id in the response.
    """
    name: str | None = None
    """
    The JSON Pointer of the account's name in the response.
    """


class ConnectorDetailPagination(Model):
    """
    Where a JSON response names the next page of a list.
    """

    next: str
    """
    The JSON Pointer of the next page's address, or of the value of `parameter`.
    """
    parameter: str | None = None
    """
    The query parameter that takes the value; null if it is an address.
    """
    items: str | None = None
    """
    The JSON Pointer of the list whose last item has the value; null if the response itself has it.
    """
    more: str | None = None
    """
    The JSON Pointer of a value that is true if there is another page; null if the pointer to the next page is enough.
    """


class AuthMethodOauth2Scope(Model):
    """
    A scope.
    """

    name: str
    """
    The scope to request.
    """
    description: str
    """
    What it allows; can be empty.
    """


class AuthMethodOauth2LongLivedToken(Model):
    """
    A request for an access token that another access token authorizes.
    """

    method: Literal['GET', 'POST'] | str
    """
    The HTTP method.
    """
    url: str
    """
    An absolute URL.
    """
    parameters: dict[str, str]
    """
    All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced.
    """


class AuthMethodOauth2AccessTokenRefresh(Model):
    """
    A request for an access token that another access token authorizes.
    """

    method: Literal['GET', 'POST'] | str
    """
    The HTTP method.
    """
    url: str
    """
    An absolute URL.
    """
    parameters: dict[str, str]
    """
    All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced.
    """


class AuthMethodOauth2FieldSource(Model):
    """
    Where the platform returns the value of a field.
    """

    field: str
    """
    The field's name.
    """
    from_: Literal['callback', 'token', 'lookup'] | str = Field(..., alias='from')
    """
    The source: the redirect, the token response, or the response at `lookupUrl`.
    """
    at: str
    """
    The name of a parameter of the redirect, or a JSON Pointer into the response, in which `?member=value` selects items of a list.
    """
    template: str | None = None
    """
    The platform's value, with `{field}` in place of the field's value; null if it is the field's value alone.
    """


class AuthMethodOauth2(Model):
    """
    OAuth 2.0 (RFC 6749). URLs may contain variables in braces.
    """

    id: str
    """
    Unique within the connector.
    """
    type: Literal['oauth2'] = 'oauth2'
    grant: Literal['authorization_code', 'client_credentials', 'account_credentials'] | str
    """
    The grant type.
    """
    issuer: str | None = None
    """
    The issuer (RFC 9207); null if unknown.
    """
    authorization_url: str | None = Field(None, alias='authorizationUrl')
    """
    The authorization endpoint; null for client credentials.
    """
    token_url: str = Field(..., alias='tokenUrl')
    """
    The token endpoint.
    """
    refresh_url: str | None = Field(None, alias='refreshUrl')
    """
    The endpoint for refresh tokens, if it is not `tokenUrl`.
    """
    revocation_url: str | None = Field(None, alias='revocationUrl')
    """
    The revocation endpoint (RFC 7009); null if unknown.
    """
    scopes: list[AuthMethodOauth2Scope]
    """
    The scopes that can be requested.
    """
    scope_separator: str = Field(..., alias='scopeSeparator')
    """
    The separator of scopes.
    """
    pkce: Literal['S256', 'none'] | str
    """
    The method of PKCE (RFC 7636).
    """
    token_auth: (
        Literal[
            'client_secret_post',
            'client_secret_basic',
            'client_secret_basic_raw',
            'private_key_jwt',
            'none',
        ]
        | str
    ) = Field(..., alias='tokenAuth')
    """
    How the client authenticates at `tokenUrl`.
    """
    client_id_parameter: str = Field(..., alias='clientIdParameter')
    """
    The platform's name for the parameter `client_id`.
    """
    authorization_parameters: dict[str, str] = Field(
        ..., alias='authorizationParameters'
    )
    """
    Additional parameters of the authorization request.
    """
    token_parameters: dict[str, str] = Field(..., alias='tokenParameters')
    """
    Additional parameters of the token request.
    """
    redirect_uri: str | None = Field(None, alias='redirectUri')
    """
    A template of the parameter `redirect_uri`; null for the service's callback address.
    """
    callback_parameters: list[str] = Field(..., alias='callbackParameters')
    """
    The parameters of the redirect that the exchange of the code repeats.
    """
    token_body: Literal['form', 'json'] | str = Field(..., alias='tokenBody')
    """
    The form of the token request.
    """
    token_headers: dict[str, str] = Field(..., alias='tokenHeaders')
    """
    Headers of token and revocation requests.
    """
    revocation_body: Literal['form', 'json'] | str = Field(..., alias='revocationBody')
    """
    The form of the revocation request.
    """
    revocation_token: Literal['refresh_token', 'access_token'] | str = Field(
        ..., alias='revocationToken'
    )
    """
    The token that a revocation request names.
    """
    token_pointer: str | None = Field(None, alias='tokenPointer')
    """
    The JSON Pointer of the object with the tokens; null for the whole response.
    """
    token_fallback: str | None = Field(None, alias='tokenFallback')
    """
    The JSON Pointer of the object with the tokens, if the first place has none; null if there is no other.
    """
    token_members: list[str] = Field(..., alias='tokenMembers')
    """
    The members of the token response that are stored.
    """
    code_parameter: str = Field(..., alias='codeParameter')
    """
    The platform's name for the parameter `code` of the redirect.
    """
    expires_unit: Literal['s', 'ms'] | str = Field(..., alias='expiresUnit')
    """
    The unit in which the platform returns the lifetime of an access token.
    """
    long_lived_token: AuthMethodOauth2LongLivedToken | None = Field(
        None, alias='longLivedToken'
    )
    """
    The request that exchanges the first access token for one that is valid for longer; null if there is none.
    """
    access_token_refresh: AuthMethodOauth2AccessTokenRefresh | None = Field(
        None, alias='accessTokenRefresh'
    )
    """
    The request that refreshes an access token without a refresh token; null if there is none.
    """
    lookup_url: str | None = Field(None, alias='lookupUrl')
    """
    Returns values of fields for an access token; null if there is none.
    """
    field_sources: list[AuthMethodOauth2FieldSource] = Field(..., alias='fieldSources')
    """
    Where the platform returns the values of fields, which then need not be filled in.
    """
    fields: list[AuthField]
    """
    The fields that the user fills in.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.
    """
    query: dict[str, str]
    """
    Query parameters of every request to the platform, as in `headers`.
    """


class AuthMethodApiKey(Model):
    """
    A key that is sent with each request.
    """

    id: str
    """
    Unique within the connector.
    """
    type: Literal['api_key'] = 'api_key'
    in_: Literal['header', 'query', 'cookie'] | str = Field(..., alias='in')
    """
    Where it is sent.
    """
    name: str
    """
    The name of the header, parameter or cookie.
    """
    prefix: str
    """
    The prefix of the key; can be empty. A space follows if it ends with a letter or a digit.
    """
    fields: list[AuthField]
    """
    The fields that the user fills in.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.
    """
    query: dict[str, str]
    """
    Query parameters of every request to the platform, as in `headers`.
    """


class AuthMethodBasic(Model):
    """
    A user name and a password (RFC 7617).
    """

    id: str
    """
    Unique within the connector.
    """
    type: Literal['basic'] = 'basic'
    username_label: str = Field(..., alias='usernameLabel')
    """
    The platform's name for the user name.
    """
    password_label: str = Field(..., alias='passwordLabel')
    """
    The platform's name for the password.
    """
    username: str | None = None
    """
    A template of the user name; null if the user enters it in the field `username`.
    """
    password: str | None = None
    """
    A template of the password; null if the user enters it in the field `password`.
    """
    fields: list[AuthField]
    """
    The fields that the user fills in.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.
    """
    query: dict[str, str]
    """
    Query parameters of every request to the platform, as in `headers`.
    """


class AuthMethodBearer(Model):
    """
    A token in the header `Authorization` (RFC 6750).
    """

    id: str
    """
    Unique within the connector.
    """
    type: Literal['bearer'] = 'bearer'
    prefix: str
    """
    The prefix of the token. A space follows if it ends with a letter or a digit.
    """
    fields: list[AuthField]
    """
    The fields that the user fills in.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.
    """
    query: dict[str, str]
    """
    Query parameters of every request to the platform, as in `headers`.
    """


class AuthMethodAwsSigv4(Model):
    """
    Requests signed with AWS Signature Version 4.
    """

    id: str
    """
    Unique within the connector.
    """
    type: Literal['aws_sigv4'] = 'aws_sigv4'
    service: str
    """
    The name of the service in signatures.
    """
    regions: list[str]
    """
    Its regions; empty if unknown.
    """
    fields: list[AuthField]
    """
    The fields that the user fills in.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.
    """
    query: dict[str, str]
    """
    Query parameters of every request to the platform, as in `headers`.
    """


class ActionDetailParameter(Model):
    """
    A parameter.
    """

    name: str
    """
    The platform's name for it.
    """
    in_: Literal['path', 'query', 'header', 'cookie'] | str = Field(..., alias='in')
    """
    Where it is sent.
    """
    required: bool
    """
    Whether the platform needs it.
    """
    schema_: dict[str, Any] | bool = Field(..., alias='schema')
    """
    Its values. References point into this response.
    """
    style: str
    """
    How a list or an object is written, as in OpenAPI.
    """
    explode: bool
    """
    Whether each value is a separate parameter, as in OpenAPI.
    """
    content_type: str | None = Field(None, alias='contentType')
    """
    The media type of the serialized value; null if `style` applies.
    """
    allow_reserved: bool | None = Field(None, alias='allowReserved')
    """
    True if reserved characters are sent unencoded, as in OpenAPI; otherwise absent.
    """


class ActionDetailRequestBodyEncodingValue(Model):
    """
    How a member of a form is written, like a parameter of a query, or as a part.
    """

    style: str
    """
    How a list or an object is written, as in OpenAPI.
    """
    explode: bool
    """
    Whether each value is a separate parameter, as in OpenAPI.
    """
    allow_reserved: bool | None = Field(None, alias='allowReserved')
    """
    Whether reserved characters are sent unencoded; otherwise absent.
    """
    content_type: str | None = Field(None, alias='contentType')
    """
    The media types that a part may have, comma-separated; else absent.
    """
    headers: list[str] | None = None
    """
    The headers that a part may have; else absent.
    """


class ActionDetailRequestBody(Model):
    """
    The body of a request.
    """

    required: bool
    """
    Whether the platform needs it.
    """
    content_types: list[str] = Field(..., alias='contentTypes')
    """
    The media types; the schema describes the first.
    """
    schema_: dict[str, Any] | bool = Field(..., alias='schema')
    """
    Its content. References point into this response.
    """
    encoding: dict[str, ActionDetailRequestBodyEncodingValue] | None = None
    """
    For a form: the serialization of members, where the document specifies it; otherwise absent.
    """


class ActionDetailAuth(Model):
    """
    A way to authorize the action.
    """

    method: str
    """
    The id of one of the connector's auth methods.
    """
    scopes: list[str]
    """
    The required scopes; empty if none are known.
    """


class ActionDetailGraphql(Model):
    """
    The request of a field of a GraphQL API; absent for other actions.
    """

    document: str
    """
    What is sent; `{selection}` stands for the selected fields.
    """
    selection: str
    """
    The fields selected without `select`; empty for a scalar.
    """


class ActionDetailResponse(Model):
    """
    The response with one status.
    """

    status: str
    """
    Such as `200`, `4XX` or `default`.
    """
    description: str
    """
    When this response is returned; can be empty.
    """
    content_type: str | None = Field(None, alias='contentType')
    """
    The media type; null without a body.
    """
    schema_: dict[str, Any] | bool | None = Field(None, alias='schema')
    """
    A JSON Schema (2020-12) of the content; null if unknown.
    """


class ConnectionStatusReason(Model):
    """
    Why a connection is in its state.
    """

    code: str
    """
    The reason, for programs: `platform_unavailable`, `invalid_answer`, `grant_rejected`, `grant_ended`, `credentials_rejected`, `request_rejected`, `client_rejected`, `not_checked` if the platform did not say whether it accepts new credentials, or `reported` if the state was set with `PUT …/state`.
    """
    detail: str | None = None
    """
    The human-readable reason.
    """
    http_status: int | None = Field(None, alias='httpStatus')
    """
    The status of the platform's response.
    """


class ConnectionSummaryActive(Model):
    """
    By whether they are active.
    """

    true: int
    """
    The number of connections.
    """
    false: int
    """
    The number of connections.
    """


class ConnectionSummaryState(Model):
    """
    By state.
    """

    operational: int
    """
    The number of connections.
    """
    degraded: int
    """
    The number of connections.
    """
    failed: int
    """
    The number of connections.
    """
    unknown: int
    """
    The number of connections.
    """


class ConnectionSummaryIdentityType(Model):
    """
    By identity type.
    """

    user: int
    """
    The number of connections.
    """
    team: int
    """
    The number of connections.
    """
    organization: int
    """
    The number of connections.
    """
    project: int
    """
    The number of connections.
    """


class ConnectionSummaryPlatform(Model):
    """
    A platform and its number of connections.
    """

    platform: str
    """
    The platform's identifier.
    """
    total: int
    """
    The number of its connections.
    """


class ConnectAttemptError(Model):
    """
    The error of a failed attempt.
    """

    code: Literal['denied', 'account_mismatch', 'connection_exists', 'connection_not_found', 'connection_limit', 'client_rejected', 'request_rejected', 'code_rejected', 'platform_unavailable', 'invalid_answer', 'issuer_mismatch', 'changed', 'interrupted'] | str
    """
    The reason, for programs.
    """
    detail: str
    """
    The human-readable reason.
    """


class CredentialsOauth2(Model):
    """
    An access token of OAuth 2.0.
    """

    type: Literal['oauth2'] = 'oauth2'
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of the connector's auth method.
    """
    client: str
    """
    The name of the OAuth client that obtained them.
    """
    access_token: str = Field(..., alias='accessToken')
    """
    The access token.
    """
    token_type: str = Field(..., alias='tokenType')
    """
    The platform's name for its type, usually `Bearer`.
    """
    expires_at: AwareDatetime | None = Field(None, alias='expiresAt')
    """
    When it expires; null if unknown.
    """
    scopes: list[str]
    """
    The scopes that the platform granted.
    """
    headers: dict[str, str]
    """
    Headers to add to a request to the platform; names in lower case.
    """
    query: dict[str, str]
    """
    Query parameters to add to a request to the platform, not encoded.
    """
    members: dict[str, Any] | None = None
    """
    Further members of the platform's token response that requests need.
    """
    fields: dict[str, str] | None = None
    """
    What else the user entered, such as variables of URLs.
    """


class CredentialsApiKey(Model):
    """
    A key.
    """

    type: Literal['api_key'] = 'api_key'
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of the connector's auth method.
    """
    api_key: str = Field(..., alias='apiKey')
    """
    The key.
    """
    headers: dict[str, str]
    """
    Headers to add to a request to the platform; names in lower case.
    """
    query: dict[str, str]
    """
    Query parameters to add to a request to the platform, not encoded.
    """
    fields: dict[str, str] | None = None
    """
    What else the user entered, such as variables of URLs.
    """


class CredentialsBasic(Model):
    """
    A user name and a password.
    """

    type: Literal['basic'] = 'basic'
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of the connector's auth method.
    """
    username: str
    """
    The user name.
    """
    password: str
    """
    The password.
    """
    headers: dict[str, str]
    """
    Headers to add to a request to the platform; names in lower case.
    """
    query: dict[str, str]
    """
    Query parameters to add to a request to the platform, not encoded.
    """
    fields: dict[str, str] | None = None
    """
    What else the user entered, such as variables of URLs.
    """


class CredentialsBearer(Model):
    """
    A token.
    """

    type: Literal['bearer'] = 'bearer'
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of the connector's auth method.
    """
    token: str
    """
    The token.
    """
    headers: dict[str, str]
    """
    Headers to add to a request to the platform; names in lower case.
    """
    query: dict[str, str]
    """
    Query parameters to add to a request to the platform, not encoded.
    """
    fields: dict[str, str] | None = None
    """
    What else the user entered, such as variables of URLs.
    """


class CredentialsAwsSigv4(Model):
    """
    Keys that sign requests with AWS Signature Version 4; `headers` and `query` are empty.
    """

    type: Literal['aws_sigv4'] = 'aws_sigv4'
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of the connector's auth method.
    """
    access_key_id: str = Field(..., alias='accessKeyId')
    """
    The id of the access key.
    """
    secret_access_key: str = Field(..., alias='secretAccessKey')
    """
    The secret access key.
    """
    session_token: str | None = Field(None, alias='sessionToken')
    """
    The token of a temporary session; null if there is none.
    """
    region: str | None = None
    """
    The region; null if the method has none.
    """
    headers: dict[str, str]
    """
    Headers to add to a request to the platform; names in lower case.
    """
    query: dict[str, str]
    """
    Query parameters to add to a request to the platform, not encoded.
    """
    fields: dict[str, str] | None = None
    """
    What else the user entered, such as variables of URLs.
    """


class AgentGrantClient(Model):
    """
    The agent, as it describes itself.
    """

    name: str | None = None
    """
    The agent's own name, which is not verified.
    """
    url: str | None = None
    """
    Its metadata document, whose host is checked; `null` if it registered itself.
    """
    redirect_uri: str = Field(..., alias='redirectUri')
    """
    Where the user was sent back to.
    """


class AuditEntryActor(Model):
    """
    Who did it.
    """

    type: Literal['key', 'token', 'person', 'grant', 'operator', 'service'] | str
    """
    `key`: the holder of an API key. `token`: the holder of a session token. `person`: a user with a browser, on a page of the service, or in the console after a sign-in. `grant`: an agent. `operator`: the operator's command line. `service`: the service itself, in reaction to a platform or a webhook receiver.
    """
    id: str | None = None
    """
    The id of the API key, the identity of the token or the person, or the id of the agent's grant; `null` for `operator` and `service`.
    """
    key_id: str | None = Field(None, alias='keyId')
    """
    The id of the API key behind the actor; `null` for `operator` and `service`.
    """


class AuditEntryTarget(Model):
    """
    The object that was changed, or whose credentials were read.
    """

    type: Literal['agent_grant', 'agent_sign_in', 'branding', 'connection', 'console_session', 'console_sign_in', 'key', 'oauth_client', 'webhook'] | str
    """
    What it is.
    """
    id: str
    """
    Its id. For an OAuth client, the platform, followed by a slash and the client's name unless that is `default`. For the branding, `branding`.
    """


class EventDataConnectionReason(Model):
    """
    Why it happened.
    """

    code: str
    """
    The reason, for programs, as in the status of a connection.
    """
    detail: str | None = None
    """
    The human-readable reason.
    """
    http_status: int | None = Field(None, alias='httpStatus')
    """
    The status of the platform's response.
    """


class EventDataConnectionCall(Model):
    """
    The call, made or only requested; only in events of the types `connection.called`, `call.approved` and `call.declined`. Never has a body, a header or a query.
    """

    method: str
    """
    The method of the request to the platform.
    """
    action: str | None = None
    """
    The key of the action that was run. Absent for a proxied request.
    """
    path: str | None = None
    """
    The path of a proxied request, percent-encoded, at most 500 characters of it. Absent if an action was run.
    """
    approval: str | None = None
    """
    The id of the approval. Absent in `connection.called`, the only type that has the next three members.
    """
    status: int | None = None
    """
    The status of the platform's response; null without one.
    """
    error: str | None = None
    """
    The error code of the service's own response, if the platform gave none; `caller_disconnected` if the caller disconnected first.
    """
    duration_ms: int | None = Field(None, alias='durationMs')
    """
    Milliseconds until the platform's response began.
    """
    key_id: str = Field(..., alias='keyId')
    """
    The id of the API key that was used, or with which the token was created.
    """
    identity: str | None = None
    """
    The identity of the token that was used; null for a key.
    """


class EventDataOauthClientOauthClient(Model):
    """
    The OAuth client that the platform rejects.
    """

    platform: str
    """
    The platform.
    """
    name: str
    """
    The name of the client.
    """
    client_id: str = Field(..., alias='clientId')
    """
    The client's id at the platform.
    """


class EventDataOauthClient(Model):
    """
    The OAuth client.
    """

    oauth_client: EventDataOauthClientOauthClient = Field(..., alias='oauthClient')
    reason: EventDataConnectionReason | None = None


class EventDataGrantGrant(Model):
    """
    What a platform had granted. In a reason, `refused` means that the platform does not revoke it, and `expired` that it could not be reached for 7 days.
    """

    id: str
    """
    The id of the deleted connection, or of the attempt or request whose tokens no connection holds.
    """
    platform: str
    """
    The platform.
    """


class EventDataGrant(Model):
    """
    The grant.
    """

    grant: EventDataGrantGrant
    reason: EventDataConnectionReason | None = None


class EventDataWebhookWebhook(Model):
    """
    The webhook that the service has disabled.
    """

    id: str
    """
    The webhook's id.
    """


class EventDataWebhook(Model):
    """
    The webhook.
    """

    webhook: EventDataWebhookWebhook
    reason: EventDataConnectionReason | None = None


class WebhookDisabled(Model):
    """
    Why the service has disabled it; `null` if it has not.
    """

    code: Literal['gone', 'no_success'] | str
    """
    The reason: `gone` for a 410, `no_success` for 5 days without a 2xx.
    """
    http_status: int | None = Field(None, alias='httpStatus')
    """
    The status of the last response.
    """


class QueryFault(Model):
    """
    An error in the query.
    """

    parameter: str
    """
    The name of the query parameter, as sent.
    """
    detail: str
    """
    A human-readable description of the error.
    """
    suggestion: str | None = None
    """
    A similar valid value.
    """


class BodyFault(Model):
    """
    An error in the body.
    """

    pointer: str
    """
    The position of the error in the body: a JSON pointer (RFC 6901), empty for the whole body.
    """
    detail: str
    """
    A human-readable description of the error.
    """
    suggestion: str | None = None
    """
    A similar valid value.
    """


class AuthMethodOther(Model):
    """
    What a later release of the service adds to `AuthMethod`: `model_extra` has its members.
    """

    type: str


class CredentialsOther(Model):
    """
    What a later release of the service adds to `Credentials`: `model_extra` has its members.
    """

    type: str


class FaultOther(Model):
    """
    What a later release of the service adds to `Fault`: `model_extra` has its members.
    """


class EventDataOther(Model):
    """
    What a later release of the service adds to `EventData`: `model_extra` has its members.
    """


class Connector(Model):
    """
    A platform that users can connect.
    """

    id: int
    """
    Derived from `key`, so it stays the same after every import.
    """
    name: str
    """
    The display name.
    """
    key: str
    """
    `api::<platform>::<platformVersion>`
    """
    platform: str
    """
    The platform's identifier.
    """
    platform_version: str = Field(..., alias='platformVersion')
    """
    The version of the platform's API.
    """
    status: Literal['generally_available', 'beta', 'alpha', 'not_available'] | str
    """
    The release stage of the connector.
    """
    description: str
    """
    A description in one line.
    """
    category: str
    """
    The category; `Other` if unknown.
    """
    image: str
    """
    The logo's absolute URL. Logos of well-known brands are on the service's own origin.
    """
    tags: list[str]
    """
    Free-form tags.
    """
    oauth: bool
    """
    Whether the platform offers OAuth.
    """
    tools: int
    """
    The number of actions of the platform.
    """
    version: str
    """
    The version that the platform's own OpenAPI document states.
    """
    active: bool
    """
    Whether the operator offers the connector.
    """


class Action(Model):
    """
    An operation of a platform.
    """

    title: str
    """
    A title in one line.
    """
    key: str
    """
    Unique within the platform.
    """
    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | str
    """
    The HTTP method that the action uses.
    """
    platform: str
    """
    The platform that the action belongs to.
    """
    model_name: str = Field(..., alias='modelName')
    """
    The resource that the action works on, in PascalCase; can be empty.
    """


class ActionMatch(Model):
    """
    An operation of a platform that matches a search.
    """

    title: str
    """
    A title in one line.
    """
    key: str
    """
    Unique within the platform.
    """
    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | str
    """
    The HTTP method that the action uses.
    """
    platform: str
    """
    The platform that the action belongs to.
    """
    model_name: str = Field(..., alias='modelName')
    """
    The resource that the action works on, in PascalCase; can be empty.
    """
    connected: Literal[True] | None = None
    """
    `true` if the identity of the token has connected the platform; otherwise omitted.
    """


class ActionDetail(Model):
    """
    An action, with its input and responses.
    """

    title: str
    """
    A title in one line.
    """
    key: str
    """
    Unique within the platform.
    """
    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | str
    """
    The HTTP method that the action uses.
    """
    platform: str
    """
    The platform that the action belongs to.
    """
    model_name: str = Field(..., alias='modelName')
    """
    The resource that the action works on, in PascalCase; can be empty.
    """
    path: str
    """
    The path below the server; a part in braces is a parameter.
    """
    server: str | None = None
    """
    The base address; null if unknown.
    """
    description: str
    """
    What the action does; can be empty.
    """
    deprecated: bool
    """
    Whether the platform advises against it.
    """
    documentation_url: str | None = Field(None, alias='documentationUrl')
    """
    The platform's documentation of it; null if unknown.
    """
    parameters: list[ActionDetailParameter]
    """
    All parameters except the body.
    """
    request_body: ActionDetailRequestBody | None = Field(None, alias='requestBody')
    """
    The body; null if there is none.
    """
    response_types: list[str] = Field(..., alias='responseTypes')
    """
    The media types of a successful response, the preferred one first; empty if unknown.
    """
    auth: list[ActionDetailAuth]
    """
    The ways to authorize it; any one is enough. Empty if it needs none, or none of the connector's methods is enough.
    """
    input: dict[str, Any]
    """
    A JSON Schema (2020-12) with the members `path`, `query`, `header`, `cookie` and `body` that the action has. With `for=model`, one flat object instead.
    """
    graphql: ActionDetailGraphql | None = None
    responses: list[ActionDetailResponse] | None = None
    """
    The action's responses; only with `include=responses`.
    """


class ListedConnection(Model):
    """
    A stored link between an identity and a platform. With `include=account`, it has the connected account.
    """

    id: str
    """
    A UUID in lower case.
    """
    platform_version: str = Field(..., alias='platformVersion')
    """
    The version of the platform's API.
    """
    name: str | None = None
    """
    The display name; null if unset.
    """
    type: Literal['api'] = 'api'
    """
    Always `api`.
    """
    key: str
    """
    `<environment>::<platform>::<label>::<identity>`; unique within an account.
    """
    environment: Literal['test', 'live'] | str
    """
    The environment of the API key.
    """
    platform: str
    """
    The platform's identifier.
    """
    identity: str
    """
    The identity that the connection belongs to.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str = Field(
        ..., alias='identityType'
    )
    """
    The type of the identity.
    """
    description: str
    """
    The connector's description when the connection was created.
    """
    state: Literal['operational', 'degraded', 'failed', 'unknown'] | str
    """
    `operational`: healthy. `degraded`: a token refresh failed, and a retry is pending. `failed`: does not work until it is reconnected. `unknown`: could not be determined.
    """
    tags: list[str]
    """
    The tags, exactly as they were sent.
    """
    version: str
    """
    Starts at "1" and goes up by one with every change.
    """
    active: bool
    """
    Whether the connection is active.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When the connection was created: UTC, with milliseconds.
    """
    account: PlatformAccount | None = None
    """
    The connected account at the platform; null if it is not known.
    """


class Connection(Model):
    """
    A stored link between an identity and a platform.
    """

    id: str
    """
    A UUID in lower case.
    """
    platform_version: str = Field(..., alias='platformVersion')
    """
    The version of the platform's API.
    """
    name: str | None = None
    """
    The display name; null if unset.
    """
    type: Literal['api'] = 'api'
    """
    Always `api`.
    """
    key: str
    """
    `<environment>::<platform>::<label>::<identity>`; unique within an account.
    """
    environment: Literal['test', 'live'] | str
    """
    The environment of the API key.
    """
    platform: str
    """
    The platform's identifier.
    """
    identity: str
    """
    The identity that the connection belongs to.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str = Field(
        ..., alias='identityType'
    )
    """
    The type of the identity.
    """
    description: str
    """
    The connector's description when the connection was created.
    """
    state: Literal['operational', 'degraded', 'failed', 'unknown'] | str
    """
    `operational`: healthy. `degraded`: a token refresh failed, and a retry is pending. `failed`: does not work until it is reconnected. `unknown`: could not be determined.
    """
    tags: list[str]
    """
    The tags, exactly as they were sent.
    """
    version: str
    """
    Starts at "1" and goes up by one with every change.
    """
    active: bool
    """
    Whether the connection is active.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When the connection was created: UTC, with milliseconds.
    """


class ConnectionStatus(Model):
    """
    The health of a connection.
    """

    state: Literal['operational', 'degraded', 'failed', 'unknown'] | str
    """
    The state of the connection.
    """
    since: AwareDatetime
    """
    The time since which it has been in that state.
    """
    reason: ConnectionStatusReason | None = None
    """
    The reason; null if there is none.
    """
    actor: Literal['user', 'account', 'nobody'] | str
    """
    Who must act. `user`: reconnect the connection. `account`: correct the OAuth client. `nobody`: nothing is wrong, or the service retries.
    """
    attempts: int
    """
    The number of refreshes that have failed since the last success.
    """
    next_attempt_at: AwareDatetime | None = Field(None, alias='nextAttemptAt')
    """
    When the next refresh is due; null if none is.
    """
    expires_at: AwareDatetime | None = Field(None, alias='expiresAt')
    """
    When the access token expires; null if unknown.
    """
    last_refreshed_at: AwareDatetime | None = Field(None, alias='lastRefreshedAt')
    """
    When the credentials were last stored or refreshed; null if the vault holds none.
    """
    scopes: list[str]
    """
    The scopes that the platform granted.
    """
    missing_scopes: list[str] = Field(..., alias='missingScopes')
    """
    The scopes that were requested, or granted before, and that the platform does not grant now.
    """
    holds_credentials: bool = Field(..., alias='holdsCredentials')
    """
    Whether the vault holds credentials of the connection.
    """
    awaits_cut_over: bool = Field(..., alias='awaitsCutOver')
    """
    Whether the connection was imported and another service still refreshes it, so that this one does not.
    """
    auth_method: str | None = Field(None, alias='authMethod')
    """
    The id of the connector's auth method that the credentials are for; null if the vault holds none.
    """
    client: str | None = None
    """
    The name of the OAuth client that obtained the credentials; null for credentials of another type, and for none.
    """
    account: PlatformAccount | None = None
    """
    The connected account at the platform; null if it is not known.
    """


class ConnectionSummary(Model):
    """
    The exact number of connections of the key's account and environment.
    """

    total: int
    """
    All connections.
    """
    active: ConnectionSummaryActive
    state: ConnectionSummaryState
    identity_type: ConnectionSummaryIdentityType = Field(..., alias='identityType')
    platforms: list[ConnectionSummaryPlatform]
    """
    The platforms with the most connections, in descending order.
    """
    other_platforms: int = Field(..., alias='otherPlatforms')
    """
    The number of connections to all other platforms.
    """


class ConnectAttempt(Model):
    """
    An attempt to connect an account.
    """

    id: str
    """
    Identifies the attempt.
    """
    platform: str
    """
    The platform's identifier.
    """
    status: Literal['pending', 'succeeded', 'failed', 'expired'] | str
    """
    `pending`: the user has not finished. `succeeded`: the account is connected. `failed`: it is not, for the reason in `error`. `expired`: the user did not come back in time.
    """
    connection: Connection | None = None
    """
    The connection; null unless it succeeded.
    """
    error: ConnectAttemptError | None = None
    """
    The error; null unless the attempt failed.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When the attempt expires.
    """


class AttemptSummary(Model):
    """
    An attempt to connect an account, in a list.
    """

    id: str
    """
    Identifies the attempt.
    """
    platform: str
    """
    The platform's identifier.
    """
    auth_method: str = Field(..., alias='authMethod')
    """
    The id of one of the connector's `authMethods`.
    """
    client: str
    """
    The name of the OAuth client.
    """
    identity: str
    """
    The identity that the connection belongs to.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str = Field(
        ..., alias='identityType'
    )
    """
    The type of the identity.
    """
    status: Literal['pending', 'succeeded', 'failed', 'expired'] | str
    """
    `pending`: the user has not finished. `succeeded`: the account is connected. `failed`: it is not, for the reason in `error`. `expired`: the user did not come back in time.
    """
    connection: str | None = None
    """
    The id of the connection that it has created, or that it reconnects; null if there is none.
    """
    error: ConnectAttemptError | None = None
    """
    The error; null unless the attempt failed.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it began.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When it expires.
    """


class OauthClient(Model):
    """
    The registration of an app at a platform.
    """

    platform: str
    """
    The platform's identifier.
    """
    name: str
    """
    The name, which distinguishes the clients of a platform.
    """
    auth_method: str | None = Field(None, alias='authMethod')
    """
    The auth method that it is for; null for all of OAuth 2.0.
    """
    client_id: str = Field(..., alias='clientId')
    """
    The client's id at the platform.
    """
    has_secret: bool = Field(..., alias='hasSecret')
    """
    Whether the service has the client's secret.
    """
    scopes: list[str]
    """
    The scopes to request when a request to connect names none.
    """
    authorization_parameters: dict[str, str] = Field(
        ..., alias='authorizationParameters'
    )
    """
    Additional parameters of the authorization request.
    """
    variables: dict[str, str]
    """
    Values of the variables in the platform's URLs.
    """
    start_url: str | None = Field(None, alias='startUrl')
    """
    The page of your app where users start to connect; null for none.
    """
    pkce: Literal['S256', 'none'] | str | None = None
    """
    Whether authorization requests use PKCE (RFC 7636); null for the catalog's value.
    """
    redirect_uri: str = Field(..., alias='redirectUri')
    """
    The redirect URI to register at the platform.
    """
    rejected_since: AwareDatetime | None = Field(None, alias='rejectedSince')
    """
    The time since which the platform has rejected the client; null if it accepts it. Setting the client clears this.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was first set.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last set.
    """


class StoredOauthClient(Model):
    """
    The registration of an app at a platform, as it was stored.
    """

    platform: str
    """
    The platform's identifier.
    """
    name: str
    """
    The name, which distinguishes the clients of a platform.
    """
    auth_method: str | None = Field(None, alias='authMethod')
    """
    The auth method that it is for; null for all of OAuth 2.0.
    """
    client_id: str = Field(..., alias='clientId')
    """
    The client's id at the platform.
    """
    has_secret: bool = Field(..., alias='hasSecret')
    """
    Whether the service has the client's secret.
    """
    scopes: list[str]
    """
    The scopes to request when a request to connect names none.
    """
    authorization_parameters: dict[str, str] = Field(
        ..., alias='authorizationParameters'
    )
    """
    Additional parameters of the authorization request.
    """
    variables: dict[str, str]
    """
    Values of the variables in the platform's URLs.
    """
    start_url: str | None = Field(None, alias='startUrl')
    """
    The page of your app where users start to connect; null for none.
    """
    pkce: Literal['S256', 'none'] | str | None = None
    """
    Whether authorization requests use PKCE (RFC 7636); null for the catalog's value.
    """
    redirect_uri: str = Field(..., alias='redirectUri')
    """
    The redirect URI to register at the platform.
    """
    rejected_since: AwareDatetime | None = Field(None, alias='rejectedSince')
    """
    The time since which the platform has rejected the client; null if it accepts it. Setting the client clears this.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was first set.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last set.
    """
    warnings: list[str] | None = None
    """
    Possible problems with the client, for example that it requests no scopes although the platform has some. Absent if there are none.
    """


class AgentSignIn(Model):
    """
    Who authenticates the users of agents.
    """

    endpoint: str
    """
    The MCP address of the account and environment, for agents.
    """
    type: Literal['oidc', 'app'] | str
    """
    `oidc`: an OpenID provider. `app`: your own app.
    """
    issuer: str | None = None
    """
    The provider's issuer; `null` with `app`.
    """
    client_id: str | None = Field(None, alias='clientId')
    """
    The client at the provider; `null` with `app`.
    """
    has_secret: bool = Field(..., alias='hasSecret')
    """
    Whether a client secret is stored. It is never returned.
    """
    identity_claim: str | None = Field(None, alias='identityClaim')
    """
    The claim that is the user's identity; `null` with `app`.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str | None = (
        Field(None, alias='identityType')
    )
    """
    The type of the users' identities; `null` for any.
    """
    confirm: str | None = None
    """
    The calls that each user must approve, at least: `write` or `destructive`; `null` for none, and with `app`.
    """
    redirect_uri: str = Field(..., alias='redirectUri')
    """
    The redirect URI to register at an OpenID provider.
    """
    url: str | None = None
    """
    Where your app authenticates users; `null` with `oidc`.
    """
    key_id: str = Field(..., alias='keyId')
    """
    The id of the key that configured the sign-in.
    """
    key_state: Literal['active', 'expired', 'revoked'] | str = Field(
        ..., alias='keyState'
    )
    """
    The state of that key. With `oidc`, users can sign in only while it is `active`. To fix a sign-in whose key has ended, configure it again.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When sign-in was switched on.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last configured.
    """


class AgentGrant(Model):
    """
    A user's grant to an agent.
    """

    id: str
    """
    The grant's id.
    """
    identity: str
    """
    The user whose connections the agent can use.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str | None = (
        Field(None, alias='identityType')
    )
    """
    Only connections of this type; `null` for all.
    """
    platforms: list[str] | None = None
    """
    Only these platforms; `null` for all.
    """
    access: Literal['read', 'write'] | str
    """
    `read`: the agent calls platforms with `GET`, `HEAD` and GraphQL queries only.
    """
    actions: list[str] | None = None
    """
    Only these actions, each as `platform/key` or `platform/prefix*`; `null` for all.
    """
    connections: list[str] | None = None
    """
    Only the connections with these ids; `null` for all of the identity.
    """
    confirm: str | None = None
    """
    The calls that the user must approve: `write` or `destructive`; `null` for none. The stricter of the grant's and the sign-in's setting.
    """
    client: AgentGrantClient
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When the user came back to sign in.
    """
    last_used_at: AwareDatetime | None = Field(None, alias='lastUsedAt')
    """
    When the agent last got an access token.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When it expires unless it is used: 30 days after its last use.
    """


class ConsoleSignIn(Model):
    """
    How people sign in to the console.
    """

    sign_in_url: str = Field(..., alias='signInUrl')
    """
    The address at which people sign in.
    """
    type: Literal['oidc', 'access'] | str
    """
    `oidc`: an OpenID provider. `access`: Cloudflare Access.
    """
    issuer: str | None = None
    """
    The provider's issuer; `null` with `access`.
    """
    client_id: str | None = Field(None, alias='clientId')
    """
    The client at the provider; `null` with `access`.
    """
    has_secret: bool = Field(..., alias='hasSecret')
    """
    Whether a client secret is stored. It is never returned.
    """
    scopes: list[str] | None = None
    """
    The scopes that are requested from the provider; `null` with `access`.
    """
    redirect_uri: str | None = Field(None, alias='redirectUri')
    """
    The redirect URI to register at the provider; `null` with `access`.
    """
    team_domain: str | None = Field(None, alias='teamDomain')
    """
    The domain of the Access team; `null` with `oidc`.
    """
    audience: str | None = None
    """
    The audience of the Access application; `null` with `oidc`.
    """
    claim: str
    """
    The claim with a person's roles.
    """
    roles: dict[str, list[Literal['catalog:read', 'connections:read', 'connections:write', 'sessions:create', 'connections:connect', 'credentials:read', 'credentials:write', 'clients:read', 'clients:write', 'connections:call', 'events:read', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write', 'agents:read', 'agents:write', 'audit:read', 'usage:read', 'console:read', 'console:write'] | str]]
    """
    The scopes of each value of the claim.
    """
    key_id: str = Field(..., alias='keyId')
    """
    The id of the key whose scopes limit those of people.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When sign-in was switched on.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last configured.
    """


class ConsoleSession(Model):
    """
    A person who is signed in to the console.
    """

    id: str
    """
    The session's id.
    """
    person: str
    """
    The person's verified email address, otherwise the subject at the provider.
    """
    scopes: list[Literal['catalog:read', 'connections:read', 'connections:write', 'sessions:create', 'connections:connect', 'credentials:read', 'credentials:write', 'clients:read', 'clients:write', 'connections:call', 'events:read', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write', 'agents:read', 'agents:write', 'audit:read', 'usage:read', 'console:read', 'console:write'] | str]
    """
    The scopes of the person's roles.
    """
    current: bool
    """
    Whether it is the caller's own session.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When the person signed in.
    """
    last_used_at: AwareDatetime = Field(..., alias='lastUsedAt')
    """
    When it was last used, accurate to a minute.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When it ends unless it is used: after an idle hour, at most 12 hours after the sign-in.
    """


class AuditEntry(Model):
    """
    A change, or a read of credentials.
    """

    id: str
    """
    Identifies the entry. Later entries have greater ids.
    """
    at: AwareDatetime
    """
    When it happened; for reads that were counted together, the time of the first one.
    """
    action: Literal['key.created', 'key.rotated', 'key.revoked', 'oauth_client.created', 'oauth_client.updated', 'oauth_client.deleted', 'webhook.created', 'webhook.updated', 'webhook.rotated', 'webhook.disabled', 'webhook.deleted', 'agent_sign_in.updated', 'agent_sign_in.deleted', 'agent_grant.requested', 'agent_grant.created', 'agent_grant.declined', 'agent_grant.revoked', 'console_sign_in.updated', 'console_sign_in.deleted', 'console_session.created', 'console_session.ended', 'branding.updated', 'connection.created', 'connection.connected', 'connection.updated', 'connection.state_changed', 'connection.deleted', 'credentials.read'] | str
    """
    What was done.
    """
    actor: AuditEntryActor
    target: AuditEntryTarget
    request_id: str | None = Field(None, alias='requestId')
    """
    The `x-request-id` of the request, of the last one if there were several; `null` for `operator` and `service`.
    """
    count: int
    """
    The count: reads of one connection's credentials with one API key in one minute are counted together. 1 for everything else.
    """


class UsageRow(Model):
    """
    A number of requests. A member that `groupBy` does not name is `null`.
    """

    day: date | None = None
    """
    The day, UTC.
    """
    endpoint: Literal['catalog', 'connections', 'connect', 'credentials', 'calls', 'sessions', 'clients', 'events', 'webhooks', 'keys', 'agents', 'audit', 'usage', 'console'] | str | None = (
        None
    )
    """
    The group of endpoints. `calls`: actions and the proxy. `keys`: also `GET /v1/whoami`.
    """
    platform: str | None = None
    """
    The platform of the connection that was called or whose credentials were read, or the one in the path; `null` for other requests.
    """
    identity: str | None = None
    """
    The identity of the token or the agent's user; for a key, that of the connection that was called or whose credentials were read; `null` for other requests.
    """
    status: Literal['2xx', '3xx', '4xx', '5xx'] | str | None = None
    """
    The class of the status.
    """
    other: bool
    """
    Whether the row is the sum of combinations that have no row of their own: those after the first 1000 of a day, or of this response. Its `platform` and `identity` are `null`.
    """
    requests: int
    """
    The number of requests.
    """


class Webhook(Model):
    """
    A webhook: a URL that receives events.
    """

    id: str
    """
    Identifies the webhook.
    """
    url: str
    """
    The URL that receives events.
    """
    description: str | None = None
    """
    What it is for.
    """
    types: list[str]
    """
    The types of events that are sent; all if empty.
    """
    active: bool
    """
    Whether events are sent.
    """
    failing_since: AwareDatetime | None = Field(None, alias='failingSince')
    """
    The time since which deliveries have failed; `null` if the last one succeeded.
    """
    disabled: WebhookDisabled | None
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was created.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last changed.
    """


class WebhookWithSecret(Model):
    """
    A webhook, with its secret.
    """

    id: str
    """
    Identifies the webhook.
    """
    url: str
    """
    The URL that receives events.
    """
    description: str | None = None
    """
    What it is for.
    """
    types: list[str]
    """
    The types of events that are sent; all if empty.
    """
    active: bool
    """
    Whether events are sent.
    """
    failing_since: AwareDatetime | None = Field(None, alias='failingSince')
    """
    The time since which deliveries have failed; `null` if the last one succeeded.
    """
    disabled: WebhookDisabled | None
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was created.
    """
    updated_at: AwareDatetime = Field(..., alias='updatedAt')
    """
    When it was last changed.
    """
    secret: str
    """
    The key that signs deliveries. Returned only once.
    """


class Delivery(Model):
    """
    A delivery of an event to a webhook.
    """

    event: str
    """
    The event's id.
    """
    type: str
    """
    The event's type.
    """
    occurred_at: AwareDatetime = Field(..., alias='occurredAt')
    """
    When it happened.
    """
    state: Literal['pending', 'delivered', 'failed'] | str
    """
    `failed` deliveries are not sent again, unless they are replayed.
    """
    attempts: int
    """
    The number of times that it was sent.
    """
    last_attempt_at: AwareDatetime | None = Field(None, alias='lastAttemptAt')
    """
    When it was last sent.
    """
    next_attempt_at: AwareDatetime | None = Field(None, alias='nextAttemptAt')
    """
    When it is sent next; `null` if it is over.
    """
    http_status: int | None = Field(None, alias='httpStatus')
    """
    The status of the last response.
    """
    error: str | None = None
    """
    Why there was no response: `unreachable`, `timed_out` or `address_refused`. `webhook_inactive` if the webhook was disabled before it was sent.
    """
    duration_ms: int | None = Field(None, alias='durationMs')
    """
    The duration of the last attempt in milliseconds.
    """


class ApiKey(Model):
    """
    An API key.
    """

    id: str
    """
    Identifies the key without revealing it.
    """
    name: str | None = None
    """
    What it is for.
    """
    scopes: list[Literal['catalog:read', 'connections:read', 'connections:write', 'sessions:create', 'connections:connect', 'credentials:read', 'credentials:write', 'clients:read', 'clients:write', 'connections:call', 'events:read', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write', 'agents:read', 'agents:write', 'audit:read', 'usage:read', 'console:read', 'console:write'] | str]
    """
    What it may do.
    """
    state: Literal['active', 'expired', 'revoked'] | str
    """
    Whether it can be used.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was created.
    """
    expires_at: AwareDatetime | None = Field(None, alias='expiresAt')
    """
    When it expires; `null` for never.
    """
    revoked_at: AwareDatetime | None = Field(None, alias='revokedAt')
    """
    When it was revoked; `null` if it was not.
    """
    last_used_on: date | None = Field(None, alias='lastUsedOn')
    """
    The day of its last use, in UTC; `null` if no use is recorded.
    """
    replaced_by: str | None = Field(None, alias='replacedBy')
    """
    The id of the key that replaces it.
    """
    created_by: str | None = Field(None, alias='createdBy')
    """
    The id of the key that created it; `null` if the operator did.
    """
    current: bool
    """
    Whether it is the key of this request.
    """


class ApiKeyWithSecret(Model):
    """
    An API key, with its secret.
    """

    id: str
    """
    Identifies the key without revealing it.
    """
    name: str | None = None
    """
    What it is for.
    """
    scopes: list[Literal['catalog:read', 'connections:read', 'connections:write', 'sessions:create', 'connections:connect', 'credentials:read', 'credentials:write', 'clients:read', 'clients:write', 'connections:call', 'events:read', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write', 'agents:read', 'agents:write', 'audit:read', 'usage:read', 'console:read', 'console:write'] | str]
    """
    What it may do.
    """
    state: Literal['active', 'expired', 'revoked'] | str
    """
    Whether it can be used.
    """
    created_at: AwareDatetime = Field(..., alias='createdAt')
    """
    When it was created.
    """
    expires_at: AwareDatetime | None = Field(None, alias='expiresAt')
    """
    When it expires; `null` for never.
    """
    revoked_at: AwareDatetime | None = Field(None, alias='revokedAt')
    """
    When it was revoked; `null` if it was not.
    """
    last_used_on: date | None = Field(None, alias='lastUsedOn')
    """
    The day of its last use, in UTC; `null` if no use is recorded.
    """
    replaced_by: str | None = Field(None, alias='replacedBy')
    """
    The id of the key that replaces it.
    """
    created_by: str | None = Field(None, alias='createdBy')
    """
    The id of the key that created it; `null` if the operator did.
    """
    current: bool
    """
    Whether it is the key of this request.
    """
    secret: str
    """
    The key itself: `sk_test_…` or `sk_live_…`. Returned only once.
    """


class Whoami(Model):
    """
    The API key or the token. Only tokens have the members after `expiresAt`; only the token of a person in the console has `person`.
    """

    account: str
    """
    The account that the key belongs to.
    """
    environment: Literal['test', 'live'] | str
    """
    The environment that the key belongs to.
    """
    scopes: list[Literal['catalog:read', 'connections:read', 'connections:write', 'sessions:create', 'connections:connect', 'credentials:read', 'credentials:write', 'clients:read', 'clients:write', 'connections:call', 'events:read', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write', 'agents:read', 'agents:write', 'audit:read', 'usage:read', 'console:read', 'console:write'] | str]
    """
    The scopes of the key or the token.
    """
    expires_at: AwareDatetime | None = Field(None, alias='expiresAt')
    """
    When the key or the token expires; null for never.
    """
    identity: str | None = None
    """
    The identity whose connections the token can access.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str | None = (
        Field(None, alias='identityType')
    )
    """
    The identity type that it is restricted to; null for all.
    """
    platforms: list[str] | None = None
    """
    The platforms that it is restricted to; null for all.
    """
    access: Literal['read', 'write'] | str | None = None
    """
    `read`: it calls platforms with `GET`, `HEAD` and GraphQL queries only.
    """
    actions: list[str] | None = None
    """
    The actions that it is restricted to, each as `platform/key` or `platform/prefix*`; null for all.
    """
    connections: list[str] | None = None
    """
    The ids of the connections that it is restricted to; null for all of the identity.
    """
    confirm: str | None = None
    """
    The calls that the user must approve: `write` or `destructive`; null for none.
    """
    client: str | None = None
    """
    The name of the OAuth client with which it connects accounts; null for the connection's own, or else `default`.
    """
    origins: list[str] | None = None
    """
    The web origins that it is restricted to; null for all.
    """
    fields: dict[str, str] | None = None
    """
    Values that the user can change in the connect window; null for none.
    """
    fixed_fields: dict[str, str] | None = Field(None, alias='fixedFields')
    """
    Values that the user can't change; null for none.
    """
    lang: str | None = None
    """
    The language of the connect window, as a BCP 47 tag; null for that of the browser.
    """
    person: str | None = None
    """
    The person who is signed in to the console.
    """


class Session(Model):
    """
    A token for a browser.
    """

    token: str
    """
    The token. Send it in the same header as a key.
    """
    expires_at: AwareDatetime = Field(..., alias='expiresAt')
    """
    When it expires.
    """
    environment: Literal['test', 'live'] | str
    """
    The environment of the API key.
    """
    identity: str
    """
    The identity whose connections the token can access.
    """
    identity_type: Literal['user', 'team', 'organization', 'project'] | str | None = (
        Field(None, alias='identityType')
    )
    """
    The identity type that it is restricted to; null for all.
    """
    scopes: list[Literal['catalog:read', 'connections:read', 'connections:write', 'connections:connect', 'connections:call'] | str]
    """
    The scopes of the token.
    """
    platforms: list[str] | None = None
    """
    The platforms that it is restricted to; null for all.
    """
    access: Literal['read', 'write'] | str
    """
    `read`: it calls platforms with `GET`, `HEAD` and GraphQL queries only.
    """
    actions: list[str] | None = None
    """
    The actions that it is restricted to, each as `platform/key` or `platform/prefix*`; null for all.
    """
    connections: list[str] | None = None
    """
    The ids of the connections that it is restricted to; null for all of the identity.
    """
    confirm: str | None = None
    """
    The calls that the user must approve: `write` or `destructive`; null for none.
    """
    client: str | None = None
    """
    The name of the OAuth client with which it connects accounts; null for the connection's own, or else `default`.
    """
    origins: list[str] | None = None
    """
    The web origins that it is restricted to; null for all.
    """
    fields: dict[str, str] | None = None
    """
    Values that the user can change in the connect window; null for none.
    """
    fixed_fields: dict[str, str] | None = Field(None, alias='fixedFields')
    """
    Values that the user can't change; null for none.
    """
    lang: str | None = None
    """
    The language of the connect window, as a BCP 47 tag; null for that of the browser.
    """
    connect_url: str | None = Field(None, alias='connectUrl')
    """
    With the scope `connections:connect`: the address of the window in which the token's user connects accounts. It works once.
    """


class EventDataConnection(Model):
    """
    The connection just after the event.
    """

    connection: Connection
    reason: EventDataConnectionReason | None = None
    account: PlatformAccount | None = None
    """
    The connected account at the platform; null if it is not known.
    """
    call: EventDataConnectionCall | None = None


class ConnectorPage(Model):
    """
    A page of the list of connectors.
    """

    rows: list[Connector]
    """
    The rows of this page; empty past the last page.
    """
    total: int
    """
    The exact number of rows in the whole list.
    """
    pages: int
    """
    The number of pages; 0 if there are no rows.
    """
    page: int
    """
    The number of this page.
    """


class ConnectorDetail(Model):
    """
    A connector, with the ways to connect and the addresses of the platform's API.
    """

    id: int
    """
    Derived from `key`, so it stays the same after every import.
    """
    name: str
    """
    The display name.
    """
    key: str
    """
    `api::<platform>::<platformVersion>`
    """
    platform: str
    """
    The platform's identifier.
    """
    platform_version: str = Field(..., alias='platformVersion')
    """
    The version of the platform's API.
    """
    status: Literal['generally_available', 'beta', 'alpha', 'not_available'] | str
    """
    The release stage of the connector.
    """
    description: str
    """
    A description in one line.
    """
    category: str
    """
    The category; `Other` if unknown.
    """
    image: str
    """
    The logo's absolute URL. Logos of well-known brands are on the service's own origin.
    """
    tags: list[str]
    """
    Free-form tags.
    """
    oauth: bool
    """
    Whether the platform offers OAuth.
    """
    tools: int
    """
    The number of actions of the platform.
    """
    version: str
    """
    The version that the platform's own OpenAPI document states.
    """
    active: bool
    """
    Whether the operator offers the connector.
    """
    auth_methods: list[AuthMethodOauth2 | AuthMethodApiKey | AuthMethodBasic | AuthMethodBearer | AuthMethodAwsSigv4 | AuthMethodOther] = (
        Field(..., alias='authMethods')
    )
    """
    The ways to connect, the preferred one first.
    """
    servers: list[ConnectorDetailServer]
    """
    The base addresses of the API, the default one first.
    """
    documentation_url: str | None = Field(None, alias='documentationUrl')
    """
    The platform's documentation; null if unknown.
    """
    license: ConnectorDetailLicense | None = None
    """
    The licence of the imported OpenAPI document; null if unknown.
    """
    headers: dict[str, str]
    """
    Headers of every request to the platform, with every auth method. Values are templates, as in an auth method.
    """
    verify: ConnectorDetailVerify | None = None
    """
    A request that succeeds only with valid credentials; null if unknown.
    """
    account: ConnectorDetailAccount | None = None
    """
    A request that identifies the connected account; null if unknown.
    """
    pagination: list[ConnectorDetailPagination]
    """
    Where responses name the next page of a list, in addition to the header `Link`: the first match counts.
    """


class ActionPage(Model):
    """
    A page of the list of actions.
    """

    rows: list[Action]
    """
    The rows of this page; empty past the last page.
    """
    total: int
    """
    The exact number of rows in the whole list.
    """
    pages: int
    """
    The number of pages; 0 if there are no rows.
    """
    page: int
    """
    The number of this page.
    """


class ActionSearchPage(Model):
    """
    A page of the matches.
    """

    rows: list[ActionMatch]
    """
    The rows of this page; empty past the last page.
    """
    total: int
    """
    The number of matches; exact up to 10,000.
    """
    pages: int
    """
    The number of pages; 0 if there are no rows.
    """
    page: int
    """
    The number of this page.
    """
    total_is_minimum: Literal[True] | None = Field(None, alias='totalIsMinimum')
    """
    `true` if there are more matches than `total`; otherwise omitted.
    """
    notes: list[str] | None = None
    """
    What is easily misunderstood, such as that a platform that the question names has no actions; otherwise omitted.
    """


class ConnectionPage(Model):
    """
    A page of the list of connections.
    """

    rows: list[ListedConnection]
    """
    The rows of this page; empty past the last page.
    """
    total: int
    """
    The exact number of rows in the whole list.
    """
    pages: int
    """
    The number of pages; 0 if there are no rows.
    """
    page: int
    """
    The number of this page.
    """


class AttemptSummaryPage(Model):
    """
    A page of attempts to connect.
    """

    rows: list[AttemptSummary]
    """
    The attempts of this page, the newest first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class OauthClientPage(Model):
    """
    A page of the list of OAuth clients.
    """

    rows: list[OauthClient]
    """
    The rows of this page; empty past the last page.
    """
    total: int
    """
    The exact number of rows in the whole list.
    """
    pages: int
    """
    The number of pages; 0 if there are no rows.
    """
    page: int
    """
    The number of this page.
    """


class AgentGrantPage(Model):
    """
    A page of grants.
    """

    rows: list[AgentGrant]
    """
    The grants of this page, newest first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class ConsoleSessionPage(Model):
    """
    A page of sessions.
    """

    rows: list[ConsoleSession]
    """
    The sessions of this page, newest first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class AuditEntryPage(Model):
    """
    A page of the audit.
    """

    rows: list[AuditEntry]
    """
    The entries of this page, newest first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class Usage(Model):
    """
    The number of requests.
    """

    from_: date = Field(..., alias='from')
    """
    The first day, UTC.
    """
    to: date
    """
    The last day, UTC.
    """
    requests: int
    """
    The requests of all rows.
    """
    rows: list[UsageRow]
    """
    A row for each combination of `groupBy` with requests, by day, then the most requests first. If there are more than 1000, the last row is the sum of the others.
    """


class Event(Model):
    """
    Something that happened.
    """

    id: str
    """
    Identifies the event. Later events have greater ids.
    """
    type: Literal['connection.created', 'connection.updated', 'connection.deleted', 'connection.connected', 'connection.reconnected', 'connection.degraded', 'connection.recovered', 'connection.failed', 'connection.scopes_changed', 'connection.called', 'call.approved', 'call.declined', 'oauth_client.rejected', 'grant.revoked', 'grant.revocation_failed', 'webhook.disabled'] | str
    """
    What happened.
    """
    occurred_at: AwareDatetime = Field(..., alias='occurredAt')
    """
    When it happened.
    """
    data: EventDataConnection | EventDataOauthClient | EventDataGrant | EventDataWebhook | EventDataOther


class WebhookPage(Model):
    """
    The webhooks.
    """

    rows: list[Webhook]
    """
    The webhooks, oldest first.
    """


class DeliveryPage(Model):
    """
    A page of deliveries.
    """

    rows: list[Delivery]
    """
    The deliveries of this page, those of the latest events first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class ApiKeyPage(Model):
    """
    A page of API keys.
    """

    rows: list[ApiKey]
    """
    The keys of this page, newest first.
    """
    next: str | None = None
    """
    The cursor for `before`; `null` on the last page.
    """


class Problem(Model):
    """
    An error (RFC 9457).
    """

    type: str
    """
    The URL of a page about the code.
    """
    title: str
    """
    A title for the code.
    """
    status: int
    """
    The HTTP status.
    """
    detail: str
    """
    A human-readable description of what went wrong in this case.
    """
    code: Literal['unknown_parameter', 'repeated_parameter', 'invalid_parameter', 'query_too_broad', 'invalid_body', 'missing_key', 'invalid_key', 'insufficient_scope', 'route_not_found', 'platform_not_found', 'action_not_found', 'connection_not_found', 'attempt_not_found', 'credentials_not_found', 'oauth_client_not_found', 'webhook_not_found', 'key_not_found', 'agent_sign_in_not_found', 'agent_grant_not_found', 'console_sign_in_not_found', 'console_session_not_found', 'method_not_allowed', 'connection_exists', 'connection_failed', 'awaiting_cut_over', 'credentials_held', 'not_checkable', 'not_refreshable', 'oauth_client_missing', 'oauth_client_limit', 'connection_limit', 'webhook_limit', 'webhook_inactive', 'key_limit', 'key_inactive', 'precondition_failed', 'body_too_large', 'unsupported_media_type', 'credentials_rejected', 'account_mismatch', 'too_many_requests', 'internal', 'platform_unreachable', 'refresh_failed', 'unavailable', 'platform_timeout', 'vault_full'] | str
    """
    What went wrong, for programs.
    """
    request_id: str = Field(..., alias='requestId')
    """
    Identifies the request in the service's log.
    """
    errors: list[QueryFault | BodyFault | FaultOther] | None = None
    """
    With status 400: the errors of the request. `code` is that of the first one.
    """
    suggestions: list[str] | None = None
    """
    Similar valid values.
    """
    connection_id: str | None = Field(None, alias='connectionId')
    """
    The id of the connection that already has the key.
    """
    redirect_uri: str | None = Field(None, alias='redirectUri')
    """
    The redirect URI to register at an OpenID provider before you configure the sign-in for agents.
    """


class ImportResult(Model):
    """
    The outcome of one connection.
    """

    outcome: Literal['created', 'updated', 'unchanged', 'skipped', 'failed'] | str
    """
    `created`: there is a new connection. `updated`: the credentials were stored in a connection that existed. `unchanged`: the connection has these credentials. `skipped`: it has other credentials, which do not await a cut-over, and keeps them. `failed`: `error` has the reason.
    """
    connection_id: str | None = Field(None, alias='connectionId')
    """
    The id of the connection; absent if the import of it failed.
    """
    error: Problem | None = None


class EventPage(Model):
    """
    A page of events.
    """

    rows: list[Event]
    """
    The events of this page, in the requested order.
    """
    next: str
    """
    The cursor for `after`: the id of the last examined event.
    """


class ImportResults(Model):
    """
    The outcomes of an import.
    """

    results: list[ImportResult]
    """
    One for each connection of the request, in the same order.
    """


AuthMethod: TypeAlias = AuthMethodOauth2 | AuthMethodApiKey | AuthMethodBasic | AuthMethodBearer | AuthMethodAwsSigv4 | AuthMethodOther
Credentials: TypeAlias = CredentialsOauth2 | CredentialsApiKey | CredentialsBasic | CredentialsBearer | CredentialsAwsSigv4 | CredentialsOther
Fault: TypeAlias = QueryFault | BodyFault | FaultOther
ConnectorStatus: TypeAlias = Literal["generally_available", "beta", "alpha", "not_available"] | str
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | str
AuthMethodOauth2Grant: TypeAlias = Literal["authorization_code", "client_credentials", "account_credentials"] | str
Pkce: TypeAlias = Literal["S256", "none"] | str
AuthMethodOauth2TokenAuth: TypeAlias = Literal["client_secret_post", "client_secret_basic", "client_secret_basic_raw", "private_key_jwt", "none"] | str
AuthMethodOauth2TokenBody: TypeAlias = Literal["form", "json"] | str
AuthMethodOauth2RevocationBody: TypeAlias = Literal["form", "json"] | str
AuthMethodOauth2RevocationToken: TypeAlias = Literal["refresh_token", "access_token"] | str
AuthMethodOauth2ExpiresUnit: TypeAlias = Literal["s", "ms"] | str
AuthMethodOauth2LongLivedTokenMethod: TypeAlias = Literal["GET", "POST"] | str
AuthMethodOauth2FieldSourceFrom: TypeAlias = Literal["callback", "token", "lookup"] | str
AuthMethodApiKeyIn: TypeAlias = Literal["header", "query", "cookie"] | str
ActionDetailParameterIn: TypeAlias = Literal["path", "query", "header", "cookie"] | str
Environment: TypeAlias = Literal["test", "live"] | str
IdentityType: TypeAlias = Literal["user", "team", "organization", "project"] | str
State: TypeAlias = Literal["operational", "degraded", "failed", "unknown"] | str
ConnectionStatusActor: TypeAlias = Literal["user", "account", "nobody"] | str
ConnectAttemptStatus: TypeAlias = Literal["pending", "succeeded", "failed", "expired"] | str
ConnectAttemptErrorCode: TypeAlias = Literal["denied", "account_mismatch", "connection_exists", "connection_not_found", "connection_limit", "client_rejected", "request_rejected", "code_rejected", "platform_unavailable", "invalid_answer", "issuer_mismatch", "changed", "interrupted"] | str
ImportResultOutcome: TypeAlias = Literal["created", "updated", "unchanged", "skipped", "failed"] | str
AgentSignInType: TypeAlias = Literal["oidc", "app"] | str
AgentSignInKeyState: TypeAlias = Literal["active", "expired", "revoked"] | str
Access: TypeAlias = Literal["read", "write"] | str
ConsoleSignInType: TypeAlias = Literal["oidc", "access"] | str
ConsoleSignInRolesValue: TypeAlias = Literal["catalog:read", "connections:read", "connections:write", "sessions:create", "connections:connect", "credentials:read", "credentials:write", "clients:read", "clients:write", "connections:call", "events:read", "webhooks:read", "webhooks:write", "keys:read", "keys:write", "agents:read", "agents:write", "audit:read", "usage:read", "console:read", "console:write"] | str
Scope: TypeAlias = Literal["catalog:read", "connections:read", "connections:write", "sessions:create", "connections:connect", "credentials:read", "credentials:write", "clients:read", "clients:write", "connections:call", "events:read", "webhooks:read", "webhooks:write", "keys:read", "keys:write", "agents:read", "agents:write", "audit:read", "usage:read", "console:read", "console:write"] | str
AuditEntryAction: TypeAlias = Literal["key.created", "key.rotated", "key.revoked", "oauth_client.created", "oauth_client.updated", "oauth_client.deleted", "webhook.created", "webhook.updated", "webhook.rotated", "webhook.disabled", "webhook.deleted", "agent_sign_in.updated", "agent_sign_in.deleted", "agent_grant.requested", "agent_grant.created", "agent_grant.declined", "agent_grant.revoked", "console_sign_in.updated", "console_sign_in.deleted", "console_session.created", "console_session.ended", "branding.updated", "connection.created", "connection.connected", "connection.updated", "connection.state_changed", "connection.deleted", "credentials.read"] | str
AuditEntryActorType: TypeAlias = Literal["key", "token", "person", "grant", "operator", "service"] | str
AuditEntryTargetType: TypeAlias = Literal["agent_grant", "agent_sign_in", "branding", "connection", "console_session", "console_sign_in", "key", "oauth_client", "webhook"] | str
UsageRowEndpoint: TypeAlias = Literal["catalog", "connections", "connect", "credentials", "calls", "sessions", "clients", "events", "webhooks", "keys", "agents", "audit", "usage", "console"] | str
UsageRowStatus: TypeAlias = Literal["2xx", "3xx", "4xx", "5xx"] | str
EventType: TypeAlias = Literal["connection.created", "connection.updated", "connection.deleted", "connection.connected", "connection.reconnected", "connection.degraded", "connection.recovered", "connection.failed", "connection.scopes_changed", "connection.called", "call.approved", "call.declined", "oauth_client.rejected", "grant.revoked", "grant.revocation_failed", "webhook.disabled"] | str
EventData: TypeAlias = EventDataConnection | EventDataOauthClient | EventDataGrant | EventDataWebhook | EventDataOther
WebhookDisabledCode: TypeAlias = Literal["gone", "no_success"] | str
DeliveryState: TypeAlias = Literal["pending", "delivered", "failed"] | str
NewSessionScope: TypeAlias = Literal["catalog:read", "connections:read", "connections:write", "connections:connect", "connections:call"] | str
ProblemCode: TypeAlias = Literal["unknown_parameter", "repeated_parameter", "invalid_parameter", "query_too_broad", "invalid_body", "missing_key", "invalid_key", "insufficient_scope", "route_not_found", "platform_not_found", "action_not_found", "connection_not_found", "attempt_not_found", "credentials_not_found", "oauth_client_not_found", "webhook_not_found", "key_not_found", "agent_sign_in_not_found", "agent_grant_not_found", "console_sign_in_not_found", "console_session_not_found", "method_not_allowed", "connection_exists", "connection_failed", "awaiting_cut_over", "credentials_held", "not_checkable", "not_refreshable", "oauth_client_missing", "oauth_client_limit", "connection_limit", "webhook_limit", "webhook_inactive", "key_limit", "key_inactive", "precondition_failed", "body_too_large", "unsupported_media_type", "credentials_rejected", "account_mismatch", "too_many_requests", "internal", "platform_unreachable", "refresh_failed", "unavailable", "platform_timeout", "vault_full"] | str
