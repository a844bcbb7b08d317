import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { write } from '../writes.fixture.ts'

const kind = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shapes.a.b' },
}
const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
const spec = { group: 'a.b', scope: 'Namespaced', names: { plural: 'shapes', kind: 'Shape' }, versions: [version] }

describe('customResourceDefinitionRules on create', () => {
  test('derive names, default to no conversion, and record the stored version', () => {
    const { object, errors } = write({ object: { ...kind, spec } })
    expect(errors).toEqual([])
    expect(object['spec']).toEqual({
      ...spec,
      names: { plural: 'shapes', kind: 'Shape', singular: 'shape', listKind: 'ShapeList' },
      conversion: { strategy: 'None' },
    })
    expect(object['status']).toEqual({ storedVersions: ['v1'] })
  })

  test('drop a status that the client made up', () => {
    expect(
      write({ object: { ...kind, spec, status: { storedVersions: ['v9'], conditions: [] } } }).object['status'],
    ).toEqual({ storedVersions: ['v1'] })
  })

  test('give the service of a webhook its port', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'a', namespace: 'b' } }, conversionReviewVersions: ['v1'] },
    }
    const { object, errors } = write({ object: { ...kind, spec: { ...spec, conversion } } })
    expect(errors).toEqual([])
    expect((object['spec'] as JsonObject)['conversion']).toMatchObject({
      webhook: { clientConfig: { service: { port: 443 } } },
    })
  })

  test('refuse a name that is not plural and group, and a webhook without https', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'http://x' }, conversionReviewVersions: ['v1'] },
    }
    expect(
      write({ object: { ...kind, metadata: { name: 'shape.a.b' }, spec: { ...spec, conversion } } }).errors,
    ).toEqual([
      'metadata.name: Invalid value: "shape.a.b": must be spec.names.plural+"."+spec.group',
      'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    ])
  })
})

describe('customResourceDefinitionRules on update', () => {
  const established = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] }
  const next = {
    ...version,
    name: 'v2',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
  }

  test('add a new storage version to those stored', () => {
    const versions = [{ ...version, storage: false }, next]
    const { object, errors } = write({
      object: { ...kind, spec: { ...spec, versions } },
      old: { ...kind, spec, status: established },
    })
    expect(errors).toEqual([])
    expect(object['status']).toEqual({ ...established, storedVersions: ['v1', 'v2'] })
  })

  test('refuse to lose a version that is still stored', () => {
    expect(
      write({ object: { ...kind, spec: { ...spec, versions: [next] } }, old: { ...kind, spec, status: established } })
        .errors,
    ).toEqual([
      expect.stringMatching(
        /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was previously a storage version/,
      ),
    ])
  })

  test('refuse another scope once established', () => {
    expect(
      write({ object: { ...kind, spec: { ...spec, scope: 'Cluster' } }, old: { ...kind, spec, status: established } })
        .errors,
    ).toEqual(['spec.scope: Invalid value: "Cluster": field is immutable'])
    expect(
      write({
        object: { ...kind, spec: { ...spec, scope: 'Cluster' } },
        old: { ...kind, spec, status: { storedVersions: ['v1'] } },
      }).errors,
    ).toEqual([])
  })

  test('judge a status by the names in it', () => {
    const status = { ...established, acceptedNames: { plural: 'Shapes', kind: 'Shape' } }
    expect(
      write({ object: { ...kind, spec, status }, old: { ...kind, spec, status: established }, subresource: 'status' })
        .errors,
    ).toEqual([expect.stringMatching(/^status\.acceptedNames\.plural: Invalid value: "Shapes"/)])
  })
})
