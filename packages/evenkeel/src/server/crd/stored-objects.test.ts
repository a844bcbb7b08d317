import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { startServer } from '../server.ts'
import { TestServer } from '../client.fixture.ts'
import { installKinds } from './install-kinds.ts'

const things = '/apis/test.dev/v1/namespaces/default/things'
const thing = (properties: object, required: string[] = []) =>
  defineKind({
    group: 'test.dev',
    version: 'v1',
    kind: 'Thing',
    spec: { type: 'object', properties, required },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  } as never)
const size = { type: 'integer' }
const tier = { type: 'string' }

async function serving(): Promise<TestServer> {
  const tested = await TestServer.start()
  await installKinds(tested.server.transport, [thing({ size })])
  for (const name of ['a', 'b'])
    await tested.ask('POST', things, {
      body: { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { name }, spec: { size: 1 } },
    })
  return tested
}

test('F17: installKinds refuses a required field that stored objects lack, and names objects and field', async () => {
  const { server } = await serving()
  await expect(installKinds(server.transport, [thing({ size, tier }, ['tier'])])).rejects.toThrow(
    /^2 of 2 stored objects of Thing v1 do not fit the new schema \(default\/a, default\/b\): spec\.tier: Required value\. Either give the field a default or make it optional, or correct the objects first; install: 'force'/,
  )
  await installKinds(server.transport, [thing({ size, tier: { ...tier, default: 'small' } }, ['tier'])])
  await server.stop()
})

test('F17: installKinds refuses a narrower value, and replaces the schema by force', async () => {
  const { server } = await serving()
  const narrow = [thing({ size: { ...size, minimum: 5 } })]
  await expect(installKinds(server.transport, narrow)).rejects.toThrow(
    /spec\.size: Invalid value: 1: .*allow the stored values/,
  )
  await installKinds(server.transport, narrow, { force: true })
  // Objects that did not fit before are not counted again.
  await installKinds(server.transport, [thing({ size: { ...size, minimum: 5 }, tier })])
  await server.stop()
})

test('F17: installKinds changes a schema without stored objects', async () => {
  const server = await startServer()
  await installKinds(server.transport, [thing({ size })])
  await installKinds(server.transport, [thing({ size, tier }, ['tier'])])
  await server.stop()
})
