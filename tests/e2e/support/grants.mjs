// Grants at the stub with rotating refresh tokens.
import { freshTokens, reply } from "./stub.mjs";

export class Grant {
  /** The issued access tokens, in order. */
  given = [];
  /** Whether a refresh token was reused, so that the platform revoked the grant. */
  isOver = false;
  /** Whether the newest tokens were lost in transit. */
  isLost = false;
  #refresh;
  #former;

  /**
   * @param {import("./stub.mjs").Stub} stub
   * @param {string} code
   * @param {{ isStrict: boolean, life: number, isCut: (grant: Grant, what: "code" | "refresh") => boolean }} how
   *   `isStrict`: a reused refresh token revokes the grant; otherwise, the previous refresh token is accepted until the newest
   *   is used. `life`: the lifetime of access tokens in seconds. `isCut`: whether a response is withheld
   */
  constructor(stub, code, { isStrict, life, isCut }) {
    Object.assign(this, { stub, isStrict, life, isCut });
    this.code = stub.on(code, (response) => this.#give(response, "code"));
  }

  #give(response, what) {
    const tokens = freshTokens({ expires_in: this.life });
    this.given.push(tokens.access_token);
    this.#refresh = this.stub.on(tokens.refresh_token, (it) => this.#answerRefresh(it, tokens.refresh_token));
    this.isLost = this.isCut(this, what);
    if (!this.isLost) reply(response, tokens);
  }

  #answerRefresh(response, refresh) {
    const isForgiven = !this.isStrict && refresh === this.#former;
    if (this.isOver || !(refresh === this.#refresh || isForgiven)) {
      this.isOver ||= this.isStrict;
      reply(response, { error: "invalid_grant" }, { status: 400 });
      return;
    }
    this.#former = refresh;
    this.#give(response, "refresh");
  }

  /** Whether the platform accepts an access token. */
  takes = (token) => !this.isOver && this.given.includes(token);
}
