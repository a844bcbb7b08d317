/** What only the audit log shows. The rest is judged in the conformance suite. */
import { expect, test } from 'vitest'
import { TestServer } from '../../client.fixture.ts'

const pod = (name: string): object => ({
  metadata: { name },
  spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] },
})

async function audited(labels: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const lines: string[] = []
  const it = await TestServer.start({ audit: { write: (line) => lines.push(line) } })
  const prefixed = Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]),
  )
  await it.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n', labels: prefixed } } })
  await it.ask('POST', '/api/v1/namespaces/n/pods', { body: pod('a') })
  await it.server.stop()
  const events = lines.map((line) => JSON.parse(line) as { requestURI: string; annotations?: Record<string, string> })
  const { annotations = {} } = events.findLast(({ requestURI }) => requestURI.endsWith('/pods')) ?? {}
  return Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => key.startsWith('pod-security'))
      .map(([key, value]) => [key.slice('pod-security.kubernetes.io/'.length), value]),
  )
}

test('the audit event of a pod has the enforced level', async () => {
  expect(await audited({})).toEqual({ 'enforce-policy': 'privileged:latest' })
  expect(await audited({ enforce: 'privileged', 'enforce-version': 'v1.30' })).toEqual({
    'enforce-policy': 'privileged:v1.30',
  })
})

test('the audit event of a pod has the violations of the level to audit', async () => {
  expect(await audited({ audit: 'baseline', 'audit-version': 'v1.30' })).toEqual({
    'enforce-policy': 'privileged:latest',
    'audit-violations': 'would violate PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true)',
  })
})
