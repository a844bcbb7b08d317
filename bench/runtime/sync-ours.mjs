/**
 * One sync by our cache, in a separate process, with the built package: its cost and its content.
 *
 * Plain JavaScript: without stripping or compiling, only the package itself is measured.
 */
// @ts-check
import { bearer, fixedCredential, httpTransport, withCredentials } from 'evenkeel/unstable/client'
import { Client, metadataOnly } from 'evenkeel/client'
import { ObjectCache } from 'evenkeel/unstable/cache'
import { measureSync } from './sync-measure.mjs'

const { address, namespace, form } = JSON.parse(process.argv[2] ?? '')
const connection = httpTransport({ server: address.url, tls: { caPem: address.caPem } })
const client = new Client({
  transport: withCredentials(connection.transport, fixedCredential(bearer(address.token))),
  close: connection.close,
})
const whole = { apiVersion: 'bench.evenkeel.dev/v1', kind: 'BenchObject' }
// A program knows its kinds and has connected to the server before it starts a cache.
await client.page(whole, { namespace, pageSize: 1 })

const cache = new ObjectCache({ client })
const stop = new AbortController()
let running
await measureSync(async () => {
  cache.getInformer(form === 'metadata' ? metadataOnly(whole) : whole, {
    namespaces: [namespace],
    keepManagedFields: form === 'full',
  })
  running = cache.run(stop.signal)
  await cache.waitForSync()
  return cache.states[0]?.objects ?? 0
})
stop.abort()
await running
await client.close()
