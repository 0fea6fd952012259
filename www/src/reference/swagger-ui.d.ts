// Declares the parts of Swagger UI that the API reference uses, because the package has no types.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** A React component. */
  export type Component = ((props: any) => unknown) | string;

  export interface System {
    React: {
      createElement(type: Component, props?: object | null, ...children: unknown[]): unknown;
      useState<T>(initial: T): [T, (value: T) => void];
      Fragment: Component;
    };
    /** Swagger UI's state: actions change it, selectors read it. */
    authActions: any;
    authSelectors: any;
    specSelectors: any;
  }

  export interface Plugin {
    components?: Record<string, Component>;
    wrapComponents?: Record<string, (original: Component, system: System) => Component>;
    statePlugins?: Record<string, { wrapSelectors: Record<string, (original: any, system: System) => unknown> }>;
  }

  export default function SwaggerUI(options: {
    url: string;
    domNode: Element;
    plugins: ((system: System) => Plugin)[];
    [option: string]: unknown;
  }): System;
}
