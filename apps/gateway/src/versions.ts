import { malformed } from '@plinth/kernel/problem';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { queryValues, withoutParameter, type Target } from './target';

/** Since when something is deprecated, when it is removed, and where that is explained. */
export interface Deprecation {
  since: string;
  sunset?: string | undefined;
  link: string;
}

export interface Version {
  /** `major.minor`, as reported. */
  version: string;
  deprecated?: Deprecation | undefined;
}

/** The header `Deprecation` as `true`, or as the date of RFC 9745. */
export type DeprecationFormat = 'boolean' | 'date';

export interface VersionSettings {
  /** The first one is the default. */
  versions: readonly Version[];
  /** The public prefix without its version segment. */
  base: string;
  publicUrl: string;
  deprecationFormat: DeprecationFormat;
}

/** The path of a request below the prefix, and the version it asked for. */
export interface VersionedTarget {
  version: Version;
  /** Below the prefix. */
  path: string;
  query: string;
  /** True where the path is outside the prefix, so that only endpoints at the root match. */
  atRoot: boolean;
}

const PARAMETER = 'api-version';

export class Versions {
  /** Headers of every response. */
  readonly reporting: readonly string[];

  constructor(private readonly settings: VersionSettings) {
    const named = (deprecated: boolean) =>
      settings.versions
        .filter((version) => (version.deprecated !== undefined) === deprecated)
        .map(({ version }) => version)
        .join(', ');
    this.reporting = ['api-supported-versions', named(false), 'api-deprecated-versions', named(true)];
  }

  /**
   * Reads the version: the path segment decides, then the query parameter, then the default.
   * @throws Problem `unknown-version`, or `malformed` for a parameter that is repeated or no version.
   */
  resolve({ path, query }: Target): VersionedTarget {
    const { base } = this.settings;
    const belowBase = base === '' ? path : path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
    if (belowBase === undefined) return { ...this.byParameter(query), path, atRoot: true };
    const [, segment] = belowBase.split('/', 2);
    if (!/^v\d/i.test(segment!)) return { ...this.byParameter(query), path: belowBase, atRoot: false };
    const version = this.settings.versions.find((known) => segment === `v${majorOf(known)}`);
    if (!version) throw this.unknown(segment!);
    return {
      version,
      path: belowBase.slice(segment!.length + 1) || '/',
      query: withoutParameter(query, PARAMETER),
      atRoot: false,
    };
  }

  private byParameter(query: string): { version: Version; query: string } {
    const values = queryValues(query, PARAMETER);
    if (values.length === 0) return { version: this.settings.versions[0]!, query };
    const [wanted] = values;
    if (values.length > 1) throw malformed(`The parameter ${PARAMETER} is repeated.`);
    if (!/^\d{1,5}(\.\d{1,5})?$/.test(wanted!))
      throw malformed(
        `The parameter ${PARAMETER} must be a version such as ${this.settings.versions[0]!.version}.`,
      );
    const version = this.settings.versions.find(
      (known) => wanted === known.version || wanted === majorOf(known),
    );
    if (!version) throw this.unknown(wanted!);
    return { version, query: withoutParameter(query, PARAMETER) };
  }

  /** Headers of every response of a deprecated endpoint or version, errors included. */
  deprecation(deprecated: Deprecation): string[] {
    const { deprecationFormat, publicUrl } = this.settings;
    const since = Math.floor(new Date(deprecated.since).getTime() / 1000);
    return [
      'Deprecation',
      deprecationFormat === 'date' ? `@${since}` : 'true',
      ...(deprecated.sunset ? ['Sunset', new Date(deprecated.sunset).toUTCString()] : []),
      'Link',
      `<${new URL(deprecated.link, publicUrl)}>; rel="deprecation"`,
    ];
  }

  private unknown(wanted: string) {
    const known = this.settings.versions.map(({ version }) => version).join(', ');
    return platformProblems['unknown-version'](
      `There is no version ${wanted}. Supported versions: ${known}.`,
    );
  }
}

const majorOf = ({ version }: Version): string => version.split('.', 1)[0]!;
