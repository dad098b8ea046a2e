import { BEARER, OPEN_ID, type ReferenceDocument } from './document';

/** Languages of code samples that are not offered; the samples of the SDK are in the document. */
const hiddenClients = {
  ...Object.fromEntries(
    ['c', 'clojure', 'dart', 'fsharp', 'go', 'http', 'java', 'kotlin', 'node', 'objc', 'ocaml', 'php']
      .concat(['powershell', 'r', 'ruby', 'rust', 'swift'])
      .map((language) => [language, true]),
  ),
  shell: ['wget', 'httpie'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
  csharp: ['restsharp'],
};

/** What Scalar shows; nothing of it leaves for another host. @param token that requests are sent with */
export const referenceConfiguration = (content: ReferenceDocument, token = '') => ({
  content,
  hiddenClients,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: {
    preferredSecurityScheme: OPEN_ID in content.components.securitySchemes && token === '' ? OPEN_ID : BEARER,
    securitySchemes: { [BEARER]: { token } },
  },
  documentDownloadType: 'none',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  // A token ends with the page.
  persistAuth: false,
});
