/**
 * Requests for the group versions of aggregated API servers.
 */
import assert from 'node:assert/strict'
import type { Answer } from '../../answer.ts'
import { defineCustom, eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { withBackend } from '../../hook/backend.ts'
import type { ServerCase } from '../../target.ts'

const needs = ['callback'] as const
const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const requests: readonly ServerCase[] = [
  {
    id: 'server/aggregation/forwarded',
    rule: 'A request for an aggregated group version is forwarded with its path, query, method and body.',
    needs,
    async run(place) {
      await withBackend(
        place,
        {
          serve: (request, response) => {
            response.writeHead(218, { 'content-type': 'text/x-judge', 'x-own': 'yes' }).end(`got ${request.body}`)
            return true
          },
        },
        async (backend) => {
          const target = backend.path('/namespaces/default/foos?a=1&a=2&b=%2F')
          const answer = await place.client.request('POST', target, { body: 'the body', type: 'text/plain' })
          assert.equal(answer.status, 218)
          assert.equal(answer.text, 'got the body')
          assert.equal(answer.header('content-type'), 'text/x-judge')
          assert.equal(answer.header('x-own'), 'yes')
          expectMatch(backend.forwarded[0], {
            method: 'POST',
            target,
            headers: { 'content-type': 'text/plain', host: `localhost:${backend.port}` },
          })
        },
      )
    },
  },
  {
    id: 'server/aggregation/identity',
    rule: 'The backend gets the user in X-Remote headers, and no credentials of the client.',
    needs: [...needs, 'authentication'],
    async run(place) {
      await withBackend(
        place,
        {
          serve: (_, response) => {
            response.end('{}')
            return true
          },
        },
        async (backend) => {
          const headers = { 'x-remote-user': 'forged', 'x-remote-group': 'forged', 'x-remote-extra-forged': 'forged' }
          await backend.get('/foos', { headers })
          const [{ headers: sent, values } = assert.fail('nothing was forwarded')] = backend.forwarded
          assert.equal(sent.authorization, undefined)
          assert.equal(sent['x-remote-extra-forged'], undefined)
          assert.notEqual(sent['x-remote-user'], 'forged')
          assert.ok(values['x-remote-group']?.includes('system:masters'), JSON.stringify(values))
          assert.ok(!values['x-remote-group']?.includes('forged'))
        },
      )
    },
  },
  {
    id: 'server/aggregation/impersonation',
    rule: 'The backend sees the impersonated user, each group and each extra value, and no impersonation headers.',
    needs,
    async run(place) {
      await withBackend(
        place,
        {
          serve: (_, response) => {
            response.end('{}')
            return true
          },
        },
        async (backend) => {
          const headers = {
            'impersonate-user': 'jane',
            'impersonate-group': 'system:masters',
            'impersonate-extra-example.com%2fteam': 'blue',
          }
          assert.equal((await backend.get('/foos', { headers })).status, 200)
          const [{ values } = assert.fail('nothing was forwarded')] = backend.forwarded
          assert.deepEqual(values['x-remote-user'], ['jane'])
          assert.ok(values['x-remote-group']?.includes('system:masters'))
          assert.deepEqual(values['x-remote-extra-example.com%2fteam'], ['blue'])
          assert.deepEqual(
            Object.keys(values).filter((name) => name.startsWith('impersonate')),
            [],
          )
        },
      )
    },
  },
  {
    id: 'server/aggregation/authorization',
    rule: 'A request is authorized here before it is forwarded.',
    needs,
    async run(place) {
      await withBackend(place, {}, async (backend) => {
        const answer = await backend.get('/namespaces/default/foos', { headers: { 'impersonate-user': 'jane' } })
        expectStatus(answer, {
          code: 403,
          reason: 'Forbidden',
          message: `foos.${backend.group} is forbidden: User "jane" cannot list resource "foos" in API group "${backend.group}" in the namespace "default"`,
        })
        assert.deepEqual(backend.forwarded, [])
      })
    },
  },
  {
    id: 'server/aggregation/redirects',
    rule: 'A redirect of the backend is refused.',
    needs,
    async run(place) {
      await withBackend(
        place,
        {
          serve: (_, response) => {
            response.writeHead(302, { location: 'https://localhost:1/' }).end()
            return true
          },
        },
        async (backend) => {
          const answer = await backend.get('/foos')
          assert.equal(answer.status, 502)
          assert.equal(answer.text, 'the backend attempted to redirect this request, which is not permitted')
        },
      )
    },
  },
  {
    id: 'server/aggregation/broken',
    rule: 'A backend that closes the connection is a 503 with the error in plain text.',
    needs,
    async run(place) {
      await withBackend(
        place,
        {
          serve: (_, response) => {
            response.socket?.destroy()
            return true
          },
        },
        async (backend) => {
          const answer = await backend.get('/foos')
          assert.equal(answer.status, 503)
          assert.equal(answer.text, 'error trying to reach service: EOF\n')
        },
      )
    },
  },
  {
    id: 'server/aggregation/watch',
    rule: 'Events of a watch arrive as the backend sends them.',
    needs,
    async run(place) {
      let next = (): void => undefined
      await withBackend(
        place,
        {
          serve: (_, response) => {
            const event = (name: string): string =>
              `${JSON.stringify({ type: 'ADDED', object: { kind: 'Foo', metadata: { name } } })}\n`
            response.writeHead(200, { 'content-type': 'application/json' }).write(event('a'))
            next = () => {
              response.write(event('b'))
            }
            return true
          },
        },
        async (backend) => {
          const stream = await place.client.watch(backend.path('/foos'))
          assert.equal((await stream.next()).object.metadata.name, 'a')
          next()
          assert.equal((await stream.next()).object.metadata.name, 'b')
          stream.close()
        },
      )
    },
  },
]

const documents: readonly ServerCase[] = [
  {
    id: 'server/aggregation/discovery',
    rule: 'Discovery shows the resources of an available server, and its OpenAPI v3 document by its own hash.',
    needs,
    async run(place) {
      await withBackend(
        place,
        {
          serve: (request, response) => {
            if (!request.target.startsWith('/openapi/v3/')) return false
            response.setHeader('content-type', 'application/json').end('{"openapi":"3.0.0","own":true}')
            return true
          },
        },
        async (backend) => {
          const { group } = backend
          expectMatch(ok(await backend.get()), { kind: 'APIResourceList', resources: [{ name: 'foos' }] })
          const versionsIn = ({ json }: Answer): unknown =>
            json.items.find(({ metadata: { name } }) => name === group)?.['versions']
          const all = await eventually(
            () => place.client.request('GET', '/apis', { accept: aggregatedType }),
            (answer) => JSON.stringify(versionsIn(answer) ?? '').includes('foos'),
          )
          expectMatch(versionsIn(all), [
            {
              version: 'v1',
              freshness: 'Current',
              resources: [
                { resource: 'foos', responseKind: { group, version: 'v1', kind: 'Foo' }, scope: 'Namespaced' },
              ],
            },
          ])
          const key = `apis/${group}/v1`
          const index = await eventually(
            () => place.client.request('GET', '/openapi/v3'),
            ({ text }) => text.includes(`"${key}"`),
          )
          assert.deepEqual((index.json['paths'] as Record<string, unknown>)[key], {
            serverRelativeURL: `/openapi/v3/${key}?hash=ABC`,
          })
          const document = await place.client.request('GET', `/openapi/v3/${key}?hash=ABC`)
          assert.equal(ok(document)['own'], true)
        },
      )
    },
  },
  {
    id: 'server/aggregation/priority',
    rule: 'Groups are in the order of groupPriorityMinimum.',
    needs,
    async run(place) {
      await withBackend(place, { groupPriorityMinimum: 17_350 }, async ({ group }) => {
        const { json } = await eventually(
          () => place.client.request('GET', '/apis'),
          ({ text }) => text.includes(`"${group}"`),
        )
        const names = (json['groups'] as { name: string }[]).map(({ name }) => name)
        assert.equal(names[names.indexOf('batch') + 1], group)
      })
    },
  },
  {
    id: 'server/aggregation/precedence',
    rule: 'An APIService with a service wins over a CRD of the same group version, whose objects are back afterwards.',
    needs,
    async run(place) {
      const custom = await defineCustom(place)
      ok(await custom.create('a'), 201)
      await withBackend(
        place,
        {
          serve: (_, response) => {
            response.setHeader('content-type', 'application/json').end('{"from":"backend"}')
            return true
          },
        },
        async () => {
          assert.equal(ok(await custom.get('a'))['from'], 'backend')
        },
      )
      expectMatch(
        ok(
          await eventually(
            () => custom.get('a'),
            ({ text }) => !text.includes('backend'),
          ),
        ),
        {
          metadata: { name: 'a' },
        },
      )
    },
  },
]

export const proxyCases: readonly ServerCase[] = [...requests, ...documents]
