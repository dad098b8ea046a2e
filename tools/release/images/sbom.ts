import type { Package } from './packages.ts';

/** A list of the parts of an image as CycloneDX 1.6. */
export function billOfMaterials(image: string, version: string, packages: readonly Package[]): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'container', name: `plinth/${image}`, version } },
    components: packages.map(({ name, version: packageVersion, license }) => ({
      type: 'library',
      'bom-ref': urlOf(name, packageVersion),
      name,
      version: packageVersion,
      purl: urlOf(name, packageVersion),
      ...(license !== undefined && { licenses: [{ expression: license }] }),
    })),
  };
}

const urlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
