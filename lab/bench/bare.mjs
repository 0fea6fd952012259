// The bare Worker for comparison: the same status, headers and body, all constant.
import body from "body";
import answer from "answer";

const { status, headers } = answer;
const sent = body.byteLength > 0 ? body : null;

export default {
  fetch() {
    return new Response(sent, { status, headers });
  },
};
