import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { loadModule } from '../../development/build/load-module.ts';
import { discoverServices } from '../../development/launcher/services.mjs';

/** An environment variable. `defaultValue` is undefined where there is none. */
export type Variable = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly defaultValue: string | undefined;
  readonly meaning: string;
};

export type Process = { readonly name: string; readonly variables: readonly Variable[] };

/** The variables of every process, from the schemas that parse them. */
export async function readProcesses(): Promise<Process[]> {
  const services = discoverServices().filter(({ directory }) => existsSync(join(directory, 'src/config.ts')));
  const schemas = await Promise.all(services.map(({ name }) => configSchemaOf(name)));
  return services.map(({ name }, index) => ({
    name,
    variables: Object.entries(schemas[index]!.shape).map(variableOf),
  }));
}

/** What parses the environment of the processes of a service. */
export async function configSchemaOf(service: string): Promise<z.ZodObject> {
  const path = `apps/${service}/src/config.ts`;
  const schemas = Object.values(await loadModule<object>(path)).filter(isConfigSchema);
  if (schemas.length !== 1) throw new Error(`${path} has to export one object schema`);
  return schemas[0]!;
}

const isConfigSchema = (value: unknown): value is z.ZodObject =>
  typeof value === 'object' && value !== null && 'shape' in value;

function variableOf([name, schema]: [string, z.ZodType]): Variable {
  const meaning = meaningOf(schema);
  if (meaning === undefined) throw new Error(`${name} needs a description`);
  const { default: defaultValue } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const isRequired = !schema.safeParse(undefined).success;
  return { name, isRequired, defaultValue: textOf(defaultValue), meaning };
}

/** A schema that wraps another one has the description of the inner one, unless it has its own. */
function meaningOf(schema: z.ZodType): string | undefined {
  const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
  const inner = innerType ?? input;
  return schema.description ?? (inner && meaningOf(inner));
}

/** A default as it would be written into the environment. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}=${one}`)
    .join(',');
}
