/**
 * The controller of the children case with `children`, in a separate process.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { bearer, fixedCredential, httpTransport, withCredentials } from 'evenkeel/unstable/client'
import { Manager } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { parentController } from './parents.ts'
import type { ChildrenJob } from './children.ts'

const {
  address: { url, token, caPem },
  concurrency,
} = JSON.parse(process.argv[2] ?? '') as ChildrenJob
const connection = httpTransport({ server: url, tls: caPem === undefined ? { insecureSkipVerify: true } : { caPem } })
const stop = new AbortController()
process.once('SIGTERM', () => {
  stop.abort()
})
const controller: ControllerDeclaration = { ...parentController, concurrency, owns: [ConfigMap] }
const manager = new Manager({
  name: 'bench',
  transport: withCredentials(connection.transport, fixedCredential(bearer(token))),
  controllers: [controller],
  leaderElection: false,
})
process.stdout.write('begins\n')
await manager.run(stop.signal)
await connection.close()
process.stdout.write(`${JSON.stringify(process.cpuUsage())}\n`)
