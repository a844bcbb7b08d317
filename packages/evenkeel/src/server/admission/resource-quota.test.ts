/** Charging quotas, through the whole server; what clients see of it is judged in the conformance suite. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const quotas = '/api/v1/namespaces/default/resourcequotas'

let tested: TestServer
beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(() => tested.server.stop())

async function count(hard: JsonObject, used: JsonObject, spec: JsonObject = {}): Promise<void> {
  expect(
    (await tested.ask('POST', quotas, { body: { metadata: { name: 'q' }, spec: { hard, ...spec } } })).status,
  ).toBe(201)
  expect(
    (
      await tested.ask('PATCH', `${quotas}/q/status`, {
        type: 'application/merge-patch+json',
        body: { status: { hard, used } },
      })
    ).status,
  ).toBe(200)
}

const make = (name: string): Promise<Awaited<ReturnType<TestServer['ask']>>> =>
  tested.ask('POST', maps, { body: { metadata: { name } } })
const used = async (): Promise<unknown> => (await tested.ask('GET', `${quotas}/q`)).json['status']?.['used']

test('quotas charge nobody for a name that is taken', async () => {
  await make('a')
  await count({ configmaps: '5' }, { configmaps: '1' })
  expect(await make('a')).toMatchObject({ status: 409, json: { reason: 'AlreadyExists' } })
  expect(await used()).toEqual({ configmaps: '1' })
})

test('quotas count creates alone', async () => {
  await make('a')
  await count({ configmaps: '1' }, { configmaps: '1' })
  const patch = { type: 'application/merge-patch+json', body: { data: { a: '1' } } }
  expect((await tested.ask('PATCH', `${maps}/a`, patch)).status).toBe(200)
  expect((await tested.ask('DELETE', `${maps}/a`)).status).toBe(200)
  expect(await used()).toEqual({ configmaps: '1' })
})

test('quotas let no more pass than they have, whoever races', async () => {
  await count({ 'count/configmaps': '1k' }, { 'count/configmaps': '990' })
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => make(`a${index}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
  expect(await used()).toEqual({ 'count/configmaps': '1k' })
  expect((await make('b')).json).toMatchObject({
    message:
      'configmaps "b" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1k, limited: count/configmaps=1k',
  })
})

test('quotas with scopes, amounts and events are left alone', async () => {
  await count({ pods: '0' }, { pods: '0' }, { scopes: ['BestEffort'] })
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  expect((await tested.ask('POST', '/api/v1/namespaces/default/pods', { body: pod })).status).toBe(201)
})

test('quotas are charged after everybody else has agreed', async () => {
  await count({ configmaps: '5' }, { configmaps: '0' })
  const root = '/apis/admissionregistration.k8s.io/v1'
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
  }
  await tested.ask('POST', `${root}/validatingadmissionpolicies`, {
    body: { metadata: { name: 'p' }, spec: { matchConstraints, validations: [{ expression: 'false' }] } },
  })
  await tested.ask('POST', `${root}/validatingadmissionpolicybindings`, {
    body: { metadata: { name: 'p' }, spec: { policyName: 'p', validationActions: ['Deny'] } },
  })
  expect((await make('a')).status).toBe(422)
  expect(await used()).toEqual({ configmaps: '0' })
})
