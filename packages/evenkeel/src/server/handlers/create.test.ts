import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

test('a dry run of a create finds the object that exists', async () => {
  const tested = await TestServer.start()
  const [maps, body] = ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } }]
  await tested.ask('POST', maps, { body })
  expect(await tested.ask('POST', `${maps}?dryRun=All`, { body })).toMatchObject({
    status: 409,
    json: { reason: 'AlreadyExists', message: 'configmaps "a" already exists' },
  })
  await tested.server.stop()
})
