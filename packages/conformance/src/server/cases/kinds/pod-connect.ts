/**
 * Subresources of Pods that only a node can serve: what is checked before a node is asked.
 */
import assert from 'node:assert/strict'
import type { Answer } from '../../answer.ts'
import type { AskOptions } from '../../client.ts'
import { expectStatus, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { validating } from '../policies/bound.ts'

const containers = ['a', 'b'].map((name) => ({ name, image: 'x' }))

async function createPods(place: Place): Promise<void> {
  ok(await place.post('pods', { ...sample('pods', 'one'), spec: { containers: containers.slice(0, 1) } }), 201)
  ok(await place.post('pods', { ...sample('pods', 'two'), spec: { containers } }), 201)
}

function connect(place: Place, path: string, query: NonNullable<AskOptions['query']> = {}): Promise<Answer> {
  return place.client.request('POST', place.path('pods', path), { query })
}

function bad(answer: Answer, message: string): void {
  expectStatus(answer, { code: 400, reason: 'BadRequest', message })
}

export const podConnectCases: readonly ServerCase[] = [
  {
    id: 'server/pods/exec-container',
    rule: 'exec and attach need a container of the pod; one with a single container needs no name.',
    async run(place) {
      await createPods(place)
      for (const part of ['exec', 'attach']) {
        const query = { command: 'ls', stdout: true }
        bad(await connect(place, `one/${part}`, { ...query, container: 'no' }), 'container no is not valid for pod one')
        bad(
          await connect(place, `two/${part}`, query),
          'a container name must be specified for pod two, choose one of: [a b]',
        )
        bad(await connect(place, `one/${part}`, query), 'pod one does not have a host assigned')
        bad(await connect(place, `two/${part}`, { ...query, container: 'b' }), 'pod two does not have a host assigned')
        expectStatus(await connect(place, `none/${part}`, query), { code: 404, message: 'pods "none" not found' })
      }
    },
  },
  {
    id: 'server/pods/port-forward-host',
    rule: 'portforward needs a pod that has a node.',
    async run(place) {
      await createPods(place)
      bad(await connect(place, 'one/portforward', { ports: 80 }), 'pod one does not have a host assigned')
      expectStatus(await connect(place, 'none/portforward'), { code: 404, message: 'pods "none" not found' })
    },
  },
  {
    id: 'server/pods/connect-dry-run',
    rule: 'A connection cannot be a dry run.',
    async run(place) {
      await createPods(place)
      bad(await connect(place, 'one/exec', { command: 'ls', dryRun: 'All' }), 'dryRun is not supported')
    },
  },
  {
    id: 'server/pods/log-before-node',
    rule: 'The log of a pod without a node is empty, and its container is checked.',
    async run(place) {
      await createPods(place)
      const log = (path: string, query = {}): Promise<Answer> =>
        place.client.request('GET', place.path('pods', `${path}/log`), { query })
      const empty = await log('one')
      assert.deepEqual([empty.status, empty.text], [204, ''])
      bad(await log('one', { container: 'no' }), 'container no is not valid for pod one')
      bad(await log('two'), 'a container name must be specified for pod two, choose one of: [a b]')
      expectStatus(await log('none'), { code: 404, message: 'pods "none" not found' })
    },
  },
  {
    id: 'server/pods/connect-admission',
    rule: 'Policies can refuse a connection, before the pod is looked at.',
    async run(place) {
      await createPods(place)
      const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] }
      await validating(place, {
        a: {
          spec: {
            matchConstraints: { resourceRules: [rule] },
            validations: [{ expression: '!("sh" in object.command) && object.container != "b"', message: 'no shells' }],
          },
        },
      })
      const query = { stdin: true, tty: true }
      expectStatus(await connect(place, 'none/exec', { ...query, command: 'sh' }), {
        code: 422,
        reason: 'Invalid',
        message: /denied request: no shells/,
      })
      bad(
        await connect(place, 'one/exec', { ...query, command: 'ls', container: 'a' }),
        'pod one does not have a host assigned',
      )
    },
  },
  {
    id: 'server/pods/connect-request',
    rule: 'A policy sees a connection without options of the request; the proxy of a pod, node or service is one too.',
    async run(place) {
      const rule = {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: ['CONNECT'],
        resources: ['pods/exec', 'pods/proxy', 'nodes/proxy', 'services/proxy'],
      }
      await validating(place, {
        a: {
          spec: {
            matchConstraints: { resourceRules: [rule] },
            validations: [
              {
                expression: `!(request.name.startsWith("${place.namespace}"))`,
                messageExpression:
                  'object.kind + " " + (has(request.options) ? (request.options == null ? "null" : "set") : "none")',
              },
            ],
          },
        },
      })
      const name = `${place.namespace}-one`
      const refuses = async (path: string, message: RegExp): Promise<void> => {
        for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
          expectStatus(await place.client.request(method, path), { code: 422, reason: 'Invalid', message })
      }
      await refuses(place.path('pods', `${name}/proxy`), /PodProxyOptions null$/)
      await refuses(place.path('services', `${name}/proxy`), /ServiceProxyOptions null$/)
      await refuses(place.path('nodes', `${name}/proxy`), /NodeProxyOptions null$/)
      expectStatus(await connect(place, `${name}/exec`, { command: 'ls' }), {
        code: 422,
        message: /PodExecOptions null$/,
      })
    },
  },
]
