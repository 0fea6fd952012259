// Grants at the stub with rotating refresh tokens.
import { freshTokens, reply } from "./stub.mjs";

export class Grant {
  /** The issued access tokens, in order. */
  accessTokens = [];
  /** Whether a refresh token was reused, so that the platform revoked the grant. */
  isRevoked = false;
  /** Whether the newest tokens were lost in transit. */
  isRotationLost = false;
  #refresh;
  #previous;

  /**
   * @param {import("./stub.mjs").Stub} stub
   * @param {string} code
   * @param {{ isStrict: boolean, lifetime: number, isWithheld: (grant: Grant, what: "code" | "refresh") => boolean }} how
   *   `isStrict`: a reused refresh token revokes the grant; otherwise, the previous refresh token is accepted until the newest
   *   is used. `lifetime`: the lifetime of access tokens in seconds. `isWithheld`: whether a response is withheld
   */
  constructor(stub, code, { isStrict, lifetime, isWithheld }) {
    Object.assign(this, { stub, isStrict, lifetime, isWithheld });
    this.code = stub.on(code, (response) => this.#issue(response, "code"));
  }

  #issue(response, what) {
    const tokens = freshTokens({ expires_in: this.lifetime });
    this.accessTokens.push(tokens.access_token);
    this.#refresh = this.stub.on(tokens.refresh_token, (it) => this.#answerRefresh(it, tokens.refresh_token));
    this.isRotationLost = this.isWithheld(this, what);
    if (!this.isRotationLost) reply(response, tokens);
  }

  #answerRefresh(response, refresh) {
    const acceptsPrevious = !this.isStrict && refresh === this.#previous;
    if (this.isRevoked || !(refresh === this.#refresh || acceptsPrevious)) {
      this.isRevoked ||= this.isStrict;
      reply(response, { error: "invalid_grant" }, { status: 400 });
      return;
    }
    this.#previous = refresh;
    this.#issue(response, "refresh");
  }

  /** Whether the platform accepts an access token. */
  accepts = (token) => !this.isRevoked && this.accessTokens.includes(token);
}
