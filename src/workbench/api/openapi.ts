/** The API described for machines, made from the same table that answers. */
import { z } from 'zod';
import type { Route } from './route.ts';
import { problem } from './shared.ts';
import { tick } from './tick.ts';

interface Property {
  readonly description?: string;
}

const refTo = (id: string) => `#/components/schemas/${id}`;

export function openApi(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {
    '/live': {
      get: {
        summary: 'Server-sent events: once a second the same numbers as /now, with the visits of that second (capped).',
        responses: {
          200: { description: 'events named `tick`', content: { 'text/event-stream': { schema: named(tick) } } },
          default: wrong,
        },
      },
    },
  };
  for (const each of routes) {
    const path = (paths[each.path] ??= {});
    path[each.method] = operation(each);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skein workbench',
      version,
      description:
        'Times are milliseconds since 1970, durations milliseconds, sizes bytes, shares from 0 to 1, where nothing else ' +
        'is said. Reading is open to this machine. Calls that change something need the token, as the cookie that the ' +
        'printed address sets together with the header `x-skein: 1`, or as `authorization: Bearer`.',
    },
    servers: [{ url: '/api/v1' }],
    paths,
    components: { schemas: schemas(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

/** Everything that has an id, once. */
function schemas() {
  const made = z.toJSONSchema(z.globalRegistry, { uri: refTo, override: ({ jsonSchema }) => tidy(jsonSchema) }).schemas;
  return Object.fromEntries(Object.entries(made).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]));
}

/** Leaves out what tells a reader nothing. Within a version fields may be added, so others than these are allowed. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  delete schema.readOnly;
  delete schema.propertyNames;
}

function named(schema: z.ZodType) {
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) throw new Error('An answer without a name cannot be described.');
  return { $ref: refTo(id) };
}

const wrong = {
  description: 'what went wrong',
  content: { 'application/json': { schema: named(problem) } },
};

function operation({ method, path, summary, input, output, changes }: Route) {
  const schema = z.toJSONSchema(input, { io: 'input', override: ({ jsonSchema }) => tidy(jsonSchema) }) as {
    $schema?: string;
    properties?: Record<string, Property>;
    required?: string[];
  };
  delete schema.$schema;
  const inPath = (name: string) => path.includes(`{${name}}`);
  const parameters = Object.entries(schema.properties ?? {})
    .filter(([name]) => method === 'get' || inPath(name))
    .map(([name, { description, ...rest }]) => ({
      name,
      in: inPath(name) ? 'path' : 'query',
      required: inPath(name) || (schema.required?.includes(name) ?? false),
      ...(description && { description }),
      schema: rest,
    }));
  return {
    summary,
    ...(changes && { security: [{ token: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'post' && { requestBody: { required: true, content: { 'application/json': { schema } } } }),
    responses: {
      200: { description: 'the answer', content: { 'application/json': { schema: named(output) } } },
      default: wrong,
    },
  };
}
