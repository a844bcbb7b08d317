import { expect, test } from 'vitest'
import { TestServer } from './client.fixture.ts'

test('metrics count by what the registry knows, whatever clients make up', async () => {
  const tested = await TestServer.start()
  for (let index = 0; index < 50; index++) await tested.ask('GET', `/api/v1/made-up-${index}`)
  await tested.ask('GET', '/api/v1/namespaces/default/configmaps/none')
  await tested.ask('GET', '/api/v1/namespaces/default/configmaps')
  await tested.ask('MADEUP', '/api/v1/namespaces/default/configmaps')
  const { text } = await tested.ask('GET', '/metrics')
  expect(text).toContain(
    'apiserver_request_total{code="404",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 1',
  )
  expect(text).toContain(
    'apiserver_request_total{code="200",component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 1',
  )
  expect(text).toMatch(
    /apiserver_request_total\{code="404",component="apiserver",group="",resource="",scope="",subresource="",verb="\w+",version=""\} 50/,
  )
  expect(text).not.toContain('made-up')
  expect(text).not.toContain('MADEUP')
  expect(text).toMatch(/_bucket\{[^}]*resource="configmaps"[^}]*le="\+Inf"\} 1/)
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1')
  await tested.server.stop()
})
