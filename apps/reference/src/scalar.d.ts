/** The browser build of Scalar, which the build brings. */
declare module '@scalar/api-reference' {
  export function createApiReference(
    selector: string,
    configuration: object,
  ): { updateConfiguration(configuration: object): void };
}
