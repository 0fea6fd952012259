// Declares the parts of Next.js and Hono that the examples use. The real packages are installed only for
// `npm run proof -- examples`.
declare module "next" {
  export type Metadata = object;
  export type NextConfig = object;
}
declare module "next/constants" {
  export const PHASE_PRODUCTION_BUILD: string;
}
declare module "next/headers" {
  export function cookies(): Promise<{
    get(name: string): { value: string } | undefined;
    set(name: string, value: string, options: object): void;
    delete(name: string): void;
  }>;
}
declare module "hono" {
  interface Context<E extends { Bindings: object }> {
    env: E["Bindings"];
    req: { url: string; parseBody(): Promise<Record<string, string | File>> };
    html(content: unknown): Response;
    text(content: string, status?: number): Response;
    redirect(url: string, status: number): Response;
  }
  type Handler<E extends { Bindings: object }> = (context: Context<E>) => Response | Promise<Response>;
  export class Hono<E extends { Bindings: object }> {
    get(path: string, handler: Handler<E>): void;
    post(path: string, handler: Handler<E>): void;
    use(middleware: object): void;
    onError(handler: (error: Error, context: Context<E>) => Response): void;
  }
}
declare module "hono/csrf" {
  export function csrf(): object;
}
declare module "hono/html" {
  export function html(strings: TemplateStringsArray, ...values: unknown[]): object;
}
