/** The API described for machines, made from the same table that answers. */
import { z } from 'zod';
import type { Route } from './route.ts';

interface Property {
  readonly description?: string;
}

export function openApi(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {
    '/live': {
      get: {
        summary: 'Server-sent events: once a second the same numbers as /now, with the visits of that second (capped).',
        responses: { 200: { description: 'events named `tick`', content: { 'text/event-stream': {} } } },
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
        'Reading is open to this machine. Calls that change something need the token, as the cookie that the printed ' +
        'address sets together with the header `x-skein: 1`, or as `authorization: Bearer`.',
    },
    servers: [{ url: '/api/v1' }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operation({ method, path, summary, input, changes }: Route) {
  const schema = z.toJSONSchema(input, { io: 'input' }) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  const properties = Object.entries(schema.properties ?? {});
  const inPath = (name: string) => path.includes(`{${name}}`);
  const parameters = properties
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
      200: { description: 'the answer', content: { 'application/json': { schema: { type: 'object' } } } },
      default: {
        description: 'what went wrong, in one sentence',
        content: { 'application/json': { schema: { type: 'object', properties: { code: {}, error: {}, hint: {} } } } },
      },
    },
  };
}
