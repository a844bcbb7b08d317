/**
 * Custom resources and server-side apply: the cost of each step in memory, and the same requests on our server and on a
 * kube-apiserver, if one is given (see ../server/peer.ts).
 */
import type { Bench } from '../print.ts'
import { engineCases } from './engine.ts'
import { measure } from './measure.ts'
import { requestBench } from './requests.ts'

export const applyBench: Bench = {
  about:
    'server-side apply, patches, CEL rules, validation in process; apply and patches over TLS against a kube-apiserver',
  async run(options) {
    const { rounds, quick, only, print } = options
    for (const { name, run } of await engineCases()) {
      if (!name.includes(only)) continue
      const { cpuNs, wallNs } = measure(run, { rounds: Math.max(rounds, 3), roundMs: quick ? 5 : 200 })
      print({
        case: name,
        ours: cpuNs,
        peer: undefined,
        peerName: 'in process',
        unit: 'ns',
        lessIsBetter: true,
        more: { wallNs: Math.round(wallNs) },
      })
    }
    await requestBench(options)
  },
}
