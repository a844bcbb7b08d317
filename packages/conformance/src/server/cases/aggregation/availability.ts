/**
 * The condition Available of APIServices, and what clients see of a server that is not available.
 */
import assert from 'node:assert/strict'
import { eventually, groupIn } from '../../custom.ts'
import { expectMatch, ok } from '../../expect.ts'
import { apiServicesPath, availability, createApiService, deleteApiService } from '../../hook/backend.ts'
import type { Place, ServerCase } from '../../target.ts'

/** Runs with an APIService, and deletes it afterwards. */
async function withApiService(
  place: Place,
  service: Readonly<Record<string, unknown>>,
  run: () => Promise<void>,
): Promise<void> {
  await createApiService(place, { service })
  try {
    await run()
  } finally {
    await deleteApiService(place)
  }
}

const clusterIp = { metadata: { name: 'backend' }, spec: { ports: [{ name: 'https', port: 443 }] } }

function slice(endpoints: readonly unknown[]): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'backend-1', labels: { 'kubernetes.io/service-name': 'backend' } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: 443 }],
    endpoints,
  }
}

export const availabilityCases: readonly ServerCase[] = [
  {
    id: 'server/aggregation/service-not-found',
    rule: 'An APIService whose Service does not exist is not available.',
    async run(place) {
      await withApiService(place, { name: 'missing', port: 443 }, async () => {
        expectMatch(await availability(place, 'ServiceNotFound'), {
          status: 'False',
          message: `service/missing in "${place.namespace}" is not present`,
        })
      })
    },
  },
  {
    id: 'server/aggregation/service-port',
    rule: 'An APIService is not available when its Service does not have the port.',
    async run(place) {
      ok(await place.post('services', clusterIp), 201)
      await withApiService(place, { name: 'backend', port: 8443 }, async () => {
        expectMatch(await availability(place, 'ServicePortError'), {
          status: 'False',
          message: `service/backend in "${place.namespace}" is not listening on port 8443`,
        })
      })
    },
  },
  {
    id: 'server/aggregation/endpoints',
    rule: 'An APIService is not available while its Service has no EndpointSlice, or none with a ready address.',
    needs: ['still'],
    async run(place) {
      ok(await place.post('services', clusterIp), 201)
      await withApiService(place, { name: 'backend', port: 443 }, async () => {
        expectMatch(await availability(place, 'EndpointsNotFound'), {
          status: 'False',
          message: `cannot find endpointslices for service/backend in "${place.namespace}"`,
        })
        const slices = `/apis/discovery.k8s.io/v1/namespaces/${place.namespace}/endpointslices`
        const unready = [{ addresses: ['10.1.2.3'], conditions: { ready: false } }]
        ok(await place.client.request('POST', slices, { body: slice(unready) }), 201)
        expectMatch(await availability(place, 'MissingEndpoints'), {
          status: 'False',
          message: `endpointslices for service/backend in "${place.namespace}" have no addresses with port name "https"`,
        })
      })
    },
  },
  {
    id: 'server/aggregation/unreachable',
    rule: 'An APIService whose server does not answer is not available, and the message has the error.',
    async run(place) {
      const external = { metadata: { name: 'backend' }, spec: { type: 'ExternalName', externalName: 'localhost' } }
      ok(await place.post('services', external), 201)
      await withApiService(place, { name: 'backend', port: 1 }, async () => {
        const url = `https://localhost:1/apis/${groupIn(place)}/v1`
        const { status, message } = await availability(place, 'FailedDiscoveryCheck')
        assert.equal(status, 'False')
        assert.match(message, /^failing or missing response from .+: dial tcp .+: connect: connection refused$/)
        assert.ok(message.startsWith(`failing or missing response from ${url}: Get "${url}": `), message)
      })
    },
  },
  {
    id: 'server/aggregation/unavailable',
    rule: 'Requests for a group version that is not available get 503 in plain text, and discovery shows it as stale.',
    async run(place) {
      const group = groupIn(place)
      await withApiService(place, { name: 'missing', port: 443 }, async () => {
        await availability(place, 'ServiceNotFound')
        for (const path of [`/apis/${group}/v1`, `/apis/${group}/v1/namespaces/default/foos/a`]) {
          const answer = await eventually(
            () => place.client.request('GET', path),
            ({ status }) => status === 503,
          )
          assert.equal(answer.text, 'service unavailable\n')
          assert.equal(answer.header('content-type'), 'text/plain; charset=utf-8')
        }
        const gv = { groupVersion: `${group}/v1`, version: 'v1' }
        expectMatch(ok(await place.client.request('GET', `/apis/${group}`)), {
          kind: 'APIGroup',
          name: group,
          versions: [gv],
          preferredVersion: gv,
        })
        const list = ok(await place.client.request('GET', '/apis'))
        const groups = list['groups'] as { name: string }[]
        assert.ok(groups.some(({ name }) => name === group))
        const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
        const all = await eventually(
          () => place.client.request('GET', '/apis', { accept }),
          ({ json }) => json.items.some(({ metadata: { name } }) => name === group),
        )
        assert.deepEqual(all.json.items.find(({ metadata: { name } }) => name === group)?.['versions'], [
          { version: 'v1', freshness: 'Stale' },
        ])
      })
      await eventually(
        () => place.client.request('GET', `/apis/${group}/v1`),
        ({ status }) => status === 404,
      )
    },
  },
  {
    id: 'server/aggregation/local',
    rule: 'An APIService without a service describes a local group version: nothing is forwarded.',
    async run(place) {
      const apps = ok(await place.client.request('GET', '/apis/apps/v1'))
      assert.equal(apps.kind, 'APIResourceList')
      const group = groupIn(place)
      const spec = { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 }
      const name = `v1.${group}`
      ok(await place.client.request('POST', apiServicesPath, { body: { metadata: { name }, spec } }), 201)
      try {
        assert.equal((await place.client.request('GET', `/apis/${group}/v1`)).status, 404)
      } finally {
        await deleteApiService(place)
      }
    },
  },
]
