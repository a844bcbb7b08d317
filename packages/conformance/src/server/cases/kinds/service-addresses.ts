/**
 * Cluster IPs and node ports of Services: allocation, refusals, release, and the IPAddress objects behind them.
 *
 * Servers have different ranges: the cases read the ServiceCIDR `kubernetes`, which must be of IPv4 and hold 250 addresses.
 */
import assert from 'node:assert/strict'
import type { Answer } from '../../answer.ts'
import { eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const networking = '/apis/networking.k8s.io/v1'

/** The nth address of the range of the cluster. */
async function addressIn(place: Place, number: number): Promise<string> {
  const cidr = ok(await place.client.request('GET', `${networking}/servicecidrs/kubernetes`))
  const [range = ''] = cidr.spec['cidrs'] as string[]
  const [a, b, c] = range.split('.')
  return `${a}.${b}.${c}.${number}`
}

/**
 * An address for one case alone. The first ones of a range are for those who choose: no Service gets one by chance. They
 * are few, and free again after the case.
 */
let chosen = 0
function ownAddress(place: Place): Promise<string> {
  return addressIn(place, 2 + (chosen++ % 13))
}

const service = (name: string, spec: Fields = {}): Fields => sample('services', name, { spec })
const post = (place: Place, name: string, spec: Fields = {}): Promise<Answer> =>
  place.post('services', service(name, spec))
const patch = (place: Place, name: string, spec: Fields): Promise<Answer> =>
  place.patch('services', name, { body: { spec } })
const address = (place: Place, name: string): Promise<Answer> =>
  place.client.request('GET', `${networking}/ipaddresses/${name}`)

const refusal = (message: string): { code: number; reason: string; message: string } => ({
  code: 422,
  reason: 'Invalid',
  message: `Service "b" is invalid: ${message}`,
})

const clusterIpCases: readonly ServerCase[] = [
  {
    id: 'server/service-addresses/allocated',
    rule: 'A Service gets a cluster IP of the range, and an IPAddress object that names it.',
    async run(place) {
      const { spec } = ok(await post(place, 'a'), 201)
      const own = String(spec['clusterIP'])
      expectMatch(spec, { clusterIPs: [own], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
      expectMatch(ok(await address(place, own)), {
        kind: 'IPAddress',
        metadata: {
          labels: {
            'ipaddress.kubernetes.io/ip-family': 'IPv4',
            'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
          },
        },
        spec: { parentRef: { group: undefined, resource: 'services', namespace: place.namespace, name: 'a' } },
      })
    },
  },
  {
    id: 'server/service-addresses/api-server',
    rule: 'The Service of the API server has the first address of the range.',
    async run(place) {
      const first = await addressIn(place, 1)
      expectMatch(ok(await place.client.request('GET', '/api/v1/namespaces/default/services/kubernetes')).spec, {
        clusterIP: first,
      })
      expectMatch(ok(await address(place, first)).spec, { parentRef: { namespace: 'default', name: 'kubernetes' } })
    },
  },
  {
    id: 'server/service-addresses/range',
    rule: 'The default range is a ServiceCIDR that is ready.',
    async run(place) {
      const cidr = ok(await place.client.request('GET', `${networking}/servicecidrs/kubernetes`))
      expectMatch(cidr.status, {
        conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' }],
      })
    },
  },
  {
    id: 'server/service-addresses/taken',
    rule: 'An address of another Service is refused.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      ok(await post(place, 'a', { clusterIP }), 201)
      expectStatus(
        await post(place, 'b', { clusterIP }),
        refusal(
          `spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: provided IP is already allocated`,
        ),
      )
    },
  },
  {
    id: 'server/service-addresses/taken-dry-run',
    rule: 'A dry run with an address of another Service is accepted.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      ok(await post(place, 'a', { clusterIP }), 201)
      ok(await place.post('services', service('b', { clusterIP }), { query: { dryRun: 'All' } }), 201)
    },
  },
  {
    id: 'server/service-addresses/outside',
    rule: 'An address outside of the range is refused, and so is the address of the network itself.',
    async run(place) {
      for (const clusterIP of ['192.0.2.9', await addressIn(place, 0)])
        expectStatus(
          await post(place, 'b', { clusterIP }),
          refusal(
            `spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: the provided network does not match the current range`,
          ),
        )
    },
  },
  {
    id: 'server/service-addresses/families',
    rule: 'Families that the cluster does not have are refused; a preference for two is satisfied with one.',
    async run(place) {
      expectStatus(
        await post(place, 'b', { clusterIP: 'fd00::1' }),
        refusal('spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster'),
      )
      expectStatus(
        await post(place, 'b', { ipFamilies: ['IPv6'] }),
        refusal('spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
      )
      expectStatus(
        await post(place, 'b', { ipFamilyPolicy: 'RequireDualStack' }),
        refusal(
          'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
        ),
      )
      expectMatch(ok(await post(place, 'a', { ipFamilyPolicy: 'PreferDualStack' }), 201).spec, {
        ipFamilyPolicy: 'PreferDualStack',
        ipFamilies: ['IPv4'],
      })
    },
  },
  {
    id: 'server/service-addresses/headless',
    rule: 'Headless and external Services have no address.',
    async run(place) {
      expectMatch(ok(await post(place, 'a', { clusterIP: 'None', selector: { a: 'b' } }), 201).spec, {
        clusterIPs: ['None'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      })
      expectMatch(ok(await post(place, 'b', { clusterIP: 'None' }), 201).spec, {
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      })
      const external = { type: 'ExternalName', externalName: 'x.example.com', ports: undefined }
      expectMatch(ok(await post(place, 'c', external), 201).spec, { clusterIP: undefined, clusterIPs: undefined })
    },
  },
  {
    id: 'server/service-addresses/immutable',
    rule: 'The address of a Service cannot change, whichever of the two fields a client writes; leaving it out keeps it.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      const other = await addressIn(place, 250)
      ok(await post(place, 'b', { clusterIP }), 201)
      const expected = refusal(`spec.clusterIPs[0]: Invalid value: ["${other}"]: may not change once set`)
      expectStatus(await patch(place, 'b', { clusterIP: other }), expected)
      expectStatus(await patch(place, 'b', { clusterIP: other, clusterIPs: [other] }), expected)
      expectStatus(
        await patch(place, 'b', { clusterIP: 'None' }),
        refusal('spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'),
      )
      for (const body of [service('b'), service('b', { clusterIP: '' })])
        expectMatch(ok(await place.put('services', 'b', { body }), 200).spec, { clusterIP, clusterIPs: [clusterIP] })
    },
  },
  {
    id: 'server/service-addresses/released',
    rule: 'The address is free again when the Service is deleted or becomes external; it gets one when it returns.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      ok(await post(place, 'a', { clusterIP }), 201)
      const external = ok(await patch(place, 'a', { type: 'ExternalName', externalName: 'x.example.com' }), 200)
      expectMatch(external.spec, { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined })
      expectStatus(await address(place, clusterIP), { code: 404 })
      ok(await post(place, 'c', { clusterIP }), 201)
      ok(await place.delete('services', 'c'))
      expectStatus(await address(place, clusterIP), { code: 404 })
      const again = ok(await patch(place, 'a', { type: 'ClusterIP', externalName: null }), 200)
      assert.equal(ok(await address(place, String(again.spec['clusterIP']))).metadata.name, again.spec['clusterIP'])
    },
  },
  {
    id: 'server/service-addresses/dry-run',
    rule: 'A dry run takes no address.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      ok(await place.post('services', service('a', { clusterIP }), { query: { dryRun: 'All' } }), 201)
      expectStatus(await address(place, clusterIP), { code: 404 })
      ok(await post(place, 'b', { clusterIP }), 201)
    },
  },
  {
    id: 'server/service-addresses/more-ranges',
    rule: 'A further ServiceCIDR adds addresses.',
    async run(place) {
      const name = place.unique('more')
      const number = chosen++
      const spec = { cidrs: [`10.250.${number}.0/24`] }
      ok(await place.client.request('POST', `${networking}/servicecidrs`, { body: { metadata: { name }, spec } }), 201)
      const body = service('a', { clusterIP: `10.250.${number}.5` })
      await eventually(
        () => place.client.request('POST', place.path('services'), { body }),
        ({ status }) => status === 201,
      )
      ok(await place.delete('services', 'a'))
      await place.client.request('DELETE', `${networking}/servicecidrs/${name}`)
    },
  },
  {
    id: 'server/service-addresses/races',
    rule: 'Of Services that are created at the same time with one address, one gets it.',
    async run(place) {
      const clusterIP = await ownAddress(place)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => post(place, `s${index}`, { clusterIP })),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 422)])
      const free = await Promise.all(Array.from({ length: 8 }, (_, index) => post(place, `f${index}`)))
      assert.equal(new Set(free.map((answer) => ok(answer, 201).spec['clusterIP'])).size, 8)
    },
  },
]

/** The first node ports are for those who choose as well. */
let port = 30_000
const nodePort = (wanted: number, rest: Fields = {}): Fields => ({ name: 'p', port: 80, nodePort: wanted, ...rest })
const portsOf = ({ spec }: { readonly spec: Fields }): unknown[] =>
  (spec['ports'] as Fields[]).map((one) => one['nodePort'])

const nodePortCases: readonly ServerCase[] = [
  {
    id: 'server/node-ports/allocated',
    rule: 'Every port gets a node port; the same port of two protocols shares one.',
    async run(place) {
      const own = port++
      const ports = [
        nodePort(own),
        { name: 'q', port: 80, protocol: 'UDP' },
        { name: 'r', port: 81 },
        { name: 's', port: 81, protocol: 'UDP' },
      ]
      const [first, second, third, fourth] = portsOf(ok(await post(place, 'a', { type: 'NodePort', ports }), 201))
      assert.deepEqual([first, second], [own, own])
      assert.equal(third, fourth)
      assert.ok(Number(third) >= 30_000 && Number(third) <= 32_767 && third !== own)
    },
  },
  {
    id: 'server/node-ports/taken',
    rule: 'The node port of another Service is refused, and so is one outside of the range.',
    async run(place) {
      const own = port++
      ok(await post(place, 'a', { type: 'NodePort', ports: [nodePort(own)] }), 201)
      expectStatus(
        await post(place, 'b', { type: 'NodePort', ports: [nodePort(own)] }),
        refusal(`spec.ports[0].nodePort: Invalid value: ${own}: provided port is already allocated`),
      )
      expectStatus(
        await post(place, 'b', { type: 'NodePort', ports: [nodePort(80)] }),
        refusal(
          'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
        ),
      )
      ok(await post(place, 'b', { type: 'NodePort' }), 201)
      expectStatus(
        await patch(place, 'b', { ports: [nodePort(own)] }),
        refusal(`spec.ports[0].nodePort: Invalid value: ${own}: provided port is already allocated`),
      )
    },
  },
  {
    id: 'server/node-ports/released',
    rule: 'A node port is free again when the Service changes it or its type, or is deleted.',
    async run(place) {
      const [one, two] = [port++, port++]
      const type = 'NodePort'
      ok(await post(place, 'a', { type, ports: [nodePort(one)] }), 201)
      ok(await patch(place, 'a', { ports: [nodePort(two)] }), 200)
      ok(await post(place, 'b', { type, ports: [nodePort(one)] }), 201)
      expectMatch(ok(await patch(place, 'a', { type: 'ClusterIP' }), 200).spec, { ports: [{ nodePort: undefined }] })
      ok(await post(place, 'c', { type, ports: [nodePort(two)] }), 201)
      ok(await place.delete('services', 'b'))
      ok(await post(place, 'd', { type, ports: [nodePort(one)] }), 201)
    },
  },
  {
    id: 'server/node-ports/kept',
    rule: 'An update that leaves node ports out keeps them.',
    async run(place) {
      const [made] = portsOf(ok(await post(place, 'a', { type: 'NodePort' }), 201))
      const changed = ok(
        await place.put('services', 'a', { body: service('a', { type: 'NodePort', ports: [{ port: 81 }] }) }),
        200,
      )
      assert.deepEqual(portsOf(changed), [made])
    },
  },
  {
    id: 'server/node-ports/health-check',
    rule: 'A local load balancer has a port for health checks, which no other Service has and which cannot change.',
    async run(place) {
      const [own, other] = [port++, port++]
      const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
      ok(await post(place, 'b', { ...local, healthCheckNodePort: own }), 201)
      expectStatus(await post(place, 'c', { ...local, healthCheckNodePort: own }), {
        code: 500,
        reason: 'InternalError',
        message: `Internal error occurred: failed to allocate requested HealthCheck NodePort ${own}: provided port is already allocated`,
      })
      expectStatus(
        await patch(place, 'b', { healthCheckNodePort: other }),
        refusal('spec.healthCheckNodePort: Forbidden: field is immutable'),
      )
      ok(await patch(place, 'b', { externalTrafficPolicy: 'Cluster' }), 200)
      ok(await post(place, 'c', { ...local, healthCheckNodePort: own }), 201)
    },
  },
]

/** Gives everything back: the next run of the suite finds it free. */
export const serviceAddressCases = [...clusterIpCases, ...nodePortCases].map((one): ServerCase => ({
  ...one,
  async run(place) {
    try {
      await one.run(place)
    } finally {
      await place.delete('services')
    }
  },
}))
