/** The scripts of single pages by their path below the application, where `$name` is any segment. */
export type ScriptsOfPages = Readonly<Record<string, readonly string[]>>;

/**
 * The page of an application at an address, which names the scripts of just that page: browsers ask for them while the
 * application is on its way, which alone knew them otherwise. They come after it, because nothing is shown without it
 * (ADR 0043). An address that the application does not know gets the page as it was built.
 */
export function pageWithScripts(
  base: string,
  { page, scripts }: { page: string; scripts: ScriptsOfPages },
): (path: string) => string {
  const routes = Object.entries(scripts).map(([pattern, files]) => {
    const links = files.map(
      (file) => `<link rel="modulepreload" crossorigin fetchpriority="low" href="${base}/${file}">`,
    );
    const segments = pattern.split('/').map((segment) => (segment.startsWith('$') ? '[^/]+' : segment));
    return {
      names: segments.filter((segment) => segment !== '[^/]+').length,
      address: new RegExp(`^${base}${segments.join('/')}/?$`),
      page: page.replace('</head>', () => `${links.join('')}</head>`),
    };
  });
  // `/imports/new` is a page of its own and no import that is called so.
  routes.sort((one, other) => other.names - one.names);
  return (path) => routes.find(({ address }) => address.test(path))?.page ?? page;
}
