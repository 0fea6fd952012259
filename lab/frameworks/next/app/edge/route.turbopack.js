import { answer } from "../checks.js";

export const runtime = "edge";
export const dynamic = "force-dynamic";
export const GET = answer;
