// The bare Worker for comparison: returns a constant response with the status, headers and body of ours.
import body from "body";
import answer from "answer";

const { status, headers } = answer;
const sent = body.byteLength > 0 ? body : null;

export default {
  fetch() {
    return new Response(sent, { status, headers });
  },
};
