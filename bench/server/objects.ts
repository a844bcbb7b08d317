/**
 * The written objects: about 1 KiB of JSON each, as a ConfigMap or as a custom resource.
 *
 * Both have the same length and the same two fields: a `counter`, which updates change, and a `payload` of
 * random words, so that it compresses like other text.
 */

export type KindName = 'configmap' | 'custom'

export const objectBytes = 1024

interface BenchKind {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  /** The field with the content. */
  readonly field: 'data' | 'spec'
}

const kinds: Readonly<Record<KindName, BenchKind>> = {
  configmap: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', field: 'data' },
  custom: { apiVersion: 'bench.evenkeel.dev/v1', kind: 'BenchObject', plural: 'benchobjects', field: 'spec' },
}

/** The path of the objects of a kind in one namespace. */
export function collectionPath(name: KindName, namespace: string): string {
  const { apiVersion, plural } = kinds[name]
  return `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/namespaces/${namespace}/${plural}`
}

const words =
  'server port timeout cache level debug path var data log format json enable true false limit memory cpu region zone tier backend frontend retry max min interval seconds host name key value'.split(
    ' ',
  )

export interface ObjectParts {
  readonly object: string
  readonly counter: string
  /** Inserted unchanged, so it includes its quotes. */
  readonly version?: string
  /**
   * The number of the payload.
   *
   * @default 0
   */
  readonly variant?: number
}

/** The object as the client sends it. */
export function objectText(name: KindName, { object, counter, version, variant = 0 }: ObjectParts): string {
  const { apiVersion, kind, field } = kinds[name]
  const resourceVersion = version === undefined ? '' : `,"resourceVersion":${version}`
  const head = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${object}"${resourceVersion},"labels":{"app":"bench"}},"${field}":{"counter":"${counter}","payload":"`
  return `${head}${payloadText(Math.max(0, objectBytes - head.length - 3), variant)}"}}`
}

function payloadText(length: number, variant: number): string {
  let text = ''
  for (let state = variant + 1; text.length < length;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += `${words[state >>> 27]} `
  }
  return text.slice(0, length)
}

/** A merge patch that changes the counter. */
export function patchText(name: KindName, counter: string): string {
  return `{"${kinds[name].field}":{"counter":"${counter}"}}`
}

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** The CRD of the custom resource. */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'benchobjects.bench.evenkeel.dev' },
  spec: {
    group: 'bench.evenkeel.dev',
    scope: 'Namespaced',
    names: { plural: 'benchobjects', singular: 'benchobject', kind: 'BenchObject', listKind: 'BenchObjectList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['counter'],
                properties: {
                  counter: { type: 'string', maxLength: 64 },
                  payload: { type: 'string', maxLength: 4096 },
                  size: { type: 'integer', minimum: 0 },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const
