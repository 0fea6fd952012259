"""An authorization server with PyPI's Authlib, with one client and all state in memory. Prints its port.

Each refresh token works once (RFC 6749, section 10.4). The query of the authorization URL names the user, and whether they
grant access.
"""

import os
import sys
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, jsonify, request
from werkzeug.serving import WSGIRequestHandler, make_server

CODE_SECONDS = 60
client_id, client_secret, *scopes = sys.argv[1:]
redirect_uris, codes, tokens, issued, revoked = set(), {}, [], [], []


class Client(ClientMixin):
    def get_client_id(self):
        return client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(name for name in (scope or "").split() if name in scopes)

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in redirect_uris

    def check_client_secret(self, secret):
        return secret == client_secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method in ("client_secret_basic", "client_secret_post")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return True


class Code(AuthorizationCodeMixin):
    def __init__(self, code, oauth_request, user):
        self.code, self.user = code, user
        self.redirect_uri, self.scope = oauth_request.payload.redirect_uri, oauth_request.payload.scope
        self.code_challenge = oauth_request.payload.data.get("code_challenge")
        self.code_challenge_method = oauth_request.payload.data.get("code_challenge_method")
        self.expires_at = time.time() + CODE_SECONDS

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, token_response, user):
        self.access_token, self.refresh_token = token_response["access_token"], token_response.get("refresh_token")
        self.scope, self.seconds, self.user = token_response["scope"], token_response["expires_in"], user
        self.expires_at, self.ended = time.time() + self.seconds, False

    def check_client(self, client):
        return True

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.seconds

    def is_expired(self):
        return time.time() > self.expires_at

    def is_revoked(self):
        return self.ended

    def get_user(self):
        return self.user

    def get_client(self):
        return client


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def save_authorization_code(self, code, oauth_request):
        codes[code] = Code(code, oauth_request, oauth_request.user)
        issued.append(code)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.expires_at > time.time() else None

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return find(refresh_token=refresh_token)

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.ended = True


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def query_token(self, token_string, token_type_hint):
        revoked.append(token_type_hint)
        return find(access_token=token_string) or find(refresh_token=token_string)

    def revoke_token(self, token, oauth_request):
        token.ended = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return find(access_token=token_string)


def find(**attribute):
    """The active token with this value."""
    ((name, value),) = attribute.items()
    return next((one for one in tokens if getattr(one, name) == value and not one.ended), None)


def save_token(token_response, oauth_request):
    tokens.append(Token(token_response, oauth_request.user))
    issued.extend(value for name, value in token_response.items() if name.endswith("_token"))


# Allows HTTP, because the server and its clients run on one machine.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
app, client = Flask(__name__), Client()
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(app, lambda requested_id: client if requested_id == client_id else None, save_token)
server.register_grant(AuthorizationCodeGrant, [CodeChallenge()])
server.register_grant(RefreshTokenGrant)
server.register_grant(ClientCredentialsGrant)
server.register_endpoint(Revocation)
signed_in = ResourceProtector()
signed_in.register_token_validator(Validator())


@app.get("/authorize")
def authorize():
    agrees = request.args.get("allowed") != "false"
    return server.create_authorization_response(grant_user=request.args.get("user") if agrees else None)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/me")
@signed_in()
def me():
    return jsonify(name=current_token.user or client_id)


@app.put("/redirect-uri")
def add_redirect_uri():
    """Registers a redirect URI."""
    redirect_uris.add(request.get_data(as_text=True))
    return "", 204


@app.get("/tokens")
def token_report():
    """The issued tokens, and the token type hints of the revocation requests."""
    return jsonify(issued=issued, revoked=revoked)


class SilentRequestHandler(WSGIRequestHandler):
    def log(self, type, message, *args):
        pass


http_server = make_server("127.0.0.1", 0, app, request_handler=SilentRequestHandler)
print(http_server.port, flush=True)
http_server.serve_forever()
