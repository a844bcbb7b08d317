/**
 * ComponentStatuses: what a server says of the programs beside it. Nothing is stored; the health of a scheduler and a
 * controller manager depends on whether they run beside the server, so no case expects it.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, namesOf, ok } from '../../expect.ts'
import type { ServerCase } from '../../target.ts'

const path = '/api/v1/componentstatuses'
const components = ['controller-manager', 'etcd-0', 'scheduler']

export const componentStatusCases: readonly ServerCase[] = [
  {
    id: 'server/component-statuses/list',
    rule: 'ComponentStatuses list the scheduler, the controller manager and the store, each with a condition Healthy.',
    async run({ client }) {
      const list = ok(await client.request('GET', path))
      expectMatch(list, { kind: 'ComponentStatusList', apiVersion: 'v1' })
      assert.deepEqual(namesOf(list).sort(), components)
      for (const item of list.items ?? [])
        expectMatch(item, { conditions: [{ type: 'Healthy', status: /^(True|False|Unknown)$/ }] })
    },
  },
  {
    id: 'server/component-statuses/get',
    rule: 'A ComponentStatus is read by its name; the store of a server that answers is healthy.',
    async run({ client }) {
      expectMatch(ok(await client.request('GET', `${path}/etcd-0`)), {
        kind: 'ComponentStatus',
        apiVersion: 'v1',
        metadata: { name: 'etcd-0' },
        conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
      })
    },
  },
  {
    id: 'server/component-statuses/unknown',
    rule: 'A ComponentStatus with another name is not found.',
    async run({ client }) {
      expectStatus(await client.request('GET', `${path}/nope`), {
        code: 404,
        reason: 'NotFound',
        message: 'componentstatus "nope" not found',
        details: { name: 'nope', kind: 'componentstatus' },
      })
    },
  },
  {
    id: 'server/component-statuses/write',
    rule: 'ComponentStatuses cannot be created, replaced or deleted.',
    async run({ client }) {
      const body = { metadata: { name: 'etcd-0' } }
      expectStatus(await client.request('POST', path, { body }), { code: 405, reason: 'MethodNotAllowed' })
      expectStatus(await client.request('PUT', `${path}/etcd-0`, { body }), { code: 405, reason: 'MethodNotAllowed' })
      expectStatus(await client.request('DELETE', `${path}/etcd-0`), { code: 405, reason: 'MethodNotAllowed' })
    },
  },
  {
    id: 'server/component-statuses/table',
    rule: 'ComponentStatuses are shown as a table with a row for each component.',
    async run({ client }) {
      const table = ok(await client.request('GET', path, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }))
      assert.equal(table.kind, 'Table')
      assert.equal((table['rows'] as unknown[]).length, components.length)
    },
  },
]
