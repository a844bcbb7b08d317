import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
  for (const [name, color] of [
    ['a', 'red'],
    ['b', 'blue'],
    ['c', 'red'],
  ])
    await tested.ask('POST', maps, { body: { metadata: { name, labels: { color } } } })
})
afterEach(() => tested.server.stop())

describe('a list with a limit and a selector', () => {
  test('ends with the page whose last object is the last of all', async () => {
    const { json } = await tested.ask('GET', `${maps}?labelSelector=color%3Dred&limit=2`)
    expect(json['items']).toMatchObject([{ metadata: { name: 'a' } }, { metadata: { name: 'c' } }])
    expect(json['metadata']?.['continue']).toBeUndefined()
  })

  test('continues when objects follow that may match', async () => {
    const first = (await tested.ask('GET', `${maps}?labelSelector=color%3Dred&limit=1`)).json
    expect(first['items']).toMatchObject([{ metadata: { name: 'a' } }])
    const token = String(first['metadata']?.['continue'])
    const { json } = await tested.ask('GET', `${maps}?labelSelector=color%3Dred&limit=1&continue=${token}`)
    expect(json['items']).toMatchObject([{ metadata: { name: 'c' } }])
    expect(json['metadata']?.['continue']).toBeUndefined()
  })
})

test('a list without a limit is never older than the wanted version, and may be newer', async () => {
  const { json } = await tested.ask('GET', maps)
  const version = String(json['metadata']?.['resourceVersion'])
  await tested.ask('DELETE', `${maps}/a`)
  const newer = (await tested.ask('GET', `${maps}?resourceVersion=${version}`)).json
  expect(newer['items']).toHaveLength(2)
  const exact = (await tested.ask('GET', `${maps}?resourceVersion=${version}&limit=10`)).json
  expect(exact['items']).toHaveLength(3)
})

describe('a list for people', () => {
  test('is indented when the client wants it pretty', async () => {
    const { text, json } = await tested.ask('GET', `${maps}?pretty=true`)
    expect(text).toMatch(/^\{\n {2}"kind": "ConfigMapList",\n/)
    expect(json['items']).toHaveLength(3)
  })

  test('has a line for each field in YAML', async () => {
    const { text, headers } = await tested.ask('GET', maps, { headers: { accept: 'application/yaml' } })
    expect(headers['content-type']).toBe('application/yaml')
    expect(text.split('\n')).toContain('kind: ConfigMapList')
  })
})
