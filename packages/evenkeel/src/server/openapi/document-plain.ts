/**
 * OpenAPI v3 documents of what is no resource: discovery and the version.
 *
 * Each describes one GET. They are there because the index of kube-apiserver has them and clients walk the index.
 */
import type { JsonObject } from '#api'

interface NonResourceDocument {
  /** The path that is described. */
  readonly path: string
  readonly operation: string
  readonly answer: string
}

/** The documents of this sort, for the groups that are served: by their key in the index. */
export function nonResourceDocuments(groups: readonly string[]): ReadonlyMap<string, NonResourceDocument> {
  return new Map<string, NonResourceDocument>([
    ['api', { path: '/api/', operation: 'getCoreAPIVersions', answer: 'APIVersions' }],
    ['apis', { path: '/apis/', operation: 'getAPIVersions', answer: 'APIGroupList' }],
    ...groups.map((group): [string, NonResourceDocument] => [
      `apis/${group}`,
      { path: `/apis/${group}/`, operation: 'getAPIGroup', answer: 'APIGroup' },
    ]),
    ['version', { path: '/version/', operation: 'getCodeVersion', answer: 'Info' }],
  ])
}

export function describeNonResource({ path, operation, answer }: NonResourceDocument): JsonObject {
  const schema = { type: 'object', title: answer }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: {
      [path]: {
        get: {
          operationId: operation,
          responses: {
            200: { description: 'OK', content: { 'application/json': { schema } } },
            401: { description: 'Unauthorized' },
          },
        },
      },
    },
    components: { securitySchemes: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } } },
  }
}
