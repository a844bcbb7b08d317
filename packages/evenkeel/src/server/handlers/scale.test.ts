import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, note: { type: 'string' } } } },
}
const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }

function definition(plural: string, kind: string, subresources: object): object {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources }
  return {
    metadata: { name: `${plural}.demo.example.com` },
    spec: { group: 'demo.example.com', scope: 'Namespaced', names: { plural, kind }, versions: [version] },
  }
}

test('a scale owns the replicas of its kind, whatever other kinds of the group have', async () => {
  const tested = await TestServer.start()
  for (const body of [definition('sets', 'Set', { scale }), definition('notes', 'Note', {})])
    expect((await tested.ask('POST', definitions, { body })).status).toBe(201)
  const path = '/apis/demo.example.com/v1/namespaces/default/sets/s'
  const set = { apiVersion: 'demo.example.com/v1', kind: 'Set', metadata: { name: 's' }, spec: { size: 1, note: 'n' } }
  await tested.ask('PATCH', `${path}?fieldManager=a`, { type: 'application/apply-patch+yaml', body: set })
  const patch = { type: 'application/merge-patch+json', body: { spec: { replicas: 5 } } }
  expect((await tested.ask('PATCH', `${path}/scale?fieldManager=hpa`, patch)).status).toBe(200)
  expect((await tested.ask('GET', path)).json['metadata']?.['managedFields']).toMatchObject([
    { manager: 'a', fieldsV1: { 'f:spec': { 'f:note': {} } } },
    { manager: 'hpa', fieldsV1: { 'f:spec': { 'f:size': {} } }, subresource: 'scale' },
  ])
  await tested.server.stop()
})
