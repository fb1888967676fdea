import { ERROR_CODES } from '../src/domain/errors.ts';
import { type Size, VARIANTS, variantRow } from '../src/domain/variants.ts';
import { PROBLEMS } from '../src/http/response/problems.ts';

/* Tables and lists of documents, from the service's OpenAPI document, its own tables and the alert rules. */

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

/** A Markdown table. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [cells[0], `|${'---|'.repeat(head.length)}`, ...cells.slice(1)].join('\n');
}

/** A Markdown list of names, each with its sentences. */
export function list(rows: readonly (readonly [name: string, text: string])[]): string {
  return rows.map(([name, text]) => `- ${name}: ${text}`).join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** The paths, and the parameters that they share. A parameter of several paths is that of the first. */
export function pathLists(paths: readonly string[], { paths: all }: OpenApi): string {
  const operations = paths.map((path) => {
    const operation = all[path]?.get;
    if (operation === undefined) throw new Error(`There is no path ${path}.`);
    return { path, ...operation };
  });
  const parameters = new Map<string, Parameter>();
  for (const parameter of operations.flatMap((operation) => operation.parameters ?? [])) {
    if (!parameters.has(parameter.name) && parameter.in === 'query') parameters.set(parameter.name, parameter);
  }
  const lists = [list(operations.map(({ path, summary, description }) => [code(path), `${summary}. ${description}`]))];
  if (parameters.size > 0) lists.push('Parameters:', list([...parameters.values()].map(entryOf)));
  return lists.join('\n\n');
}

function entryOf({ name, required, description, schema }: Parameter): [name: string, text: string] {
  const fallback = schema.default === undefined ? '' : `, default ${code(String(schema.default))}`;
  return [`${code(name)} (${valuesOf(schema)}${required ? ', required' : fallback})`, description];
}

/** The properties of a named schema. The URLs in `bannerUrls` are the variants, which the section about images describes. */
export function fieldList(name: string, { components }: OpenApi): string {
  const schema = components.schemas[name];
  if (schema === undefined) throw new Error(`There is no schema ${name}.`);
  return `${schema.description}\n\n${list(fieldRows(schema, ''))}`;
}

function fieldRows(schema: Schema, prefix: string): [name: string, text: string][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    [code(`${prefix}${name}`), field.description ?? ''],
    ...fieldRows(field.items ?? {}, `${prefix}${name}[].`),
  ]);
}

function valuesOf({ type = '', minimum, maximum, minLength, maxLength, ...schema }: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(code).join(' ');
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  if (maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  return type === 'array' ? 'list' : 'text';
}

export function errorList(): string {
  return list(ERROR_CODES.map((name) => [`${code(name)} (${PROBLEMS[name].status})`, PROBLEMS[name].description]));
}

export function variantTable(): string {
  const rows = VARIANTS.map((variant) => {
    const { kind, visible, description } = variantRow(variant);
    const size = kind === 'avatar' ? '–' : `${visible.width}×${visible.height}`;
    return [code(variant), description, size, `the largest ${shapeOf(visible)}`];
  });
  return table(['variant', 'shows', 'of a 2560×1440 original', 'of an original of any ratio but 16:9 (±2 %)'], rows);
}

function shapeOf({ width, height }: Size): string {
  if (width === height) return 'square';
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor}:${height / divisor} part`;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

interface AlertRules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly annotations: { readonly description: string };
    }[];
  }[];
}

/** Each alert has an anchor, to which its rule links. */
export function alertList(rules: AlertRules): string {
  return list(
    rules.groups.flatMap((group) =>
      group.rules.map(({ alert, annotations: { description } }) => [
        `<a id="${alert.toLowerCase()}"></a>${code(alert)}`,
        description,
      ]),
    ),
  );
}
