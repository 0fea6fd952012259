import { answer } from "../../app/checks.js";

export const config = { runtime: "edge" };
export default answer;
