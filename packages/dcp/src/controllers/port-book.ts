/**
 * Ports that are chosen, for Services and for programs: no two of them get the same.
 *
 * Before the first one is chosen, those in the statuses of Services and of runs are taken over: an earlier dcp has chosen
 * them. A port that is named in a spec is not checked here: whoever listens on it finds out.
 */
import type { Runner } from '@evenkeel/workloads'
import type { ReconcileClient } from 'evenkeel/controller'
import { Service } from '../kinds/network.ts'

type Chosen = readonly { readonly name: string; readonly port: number }[]

/** The name of the port of a Service. */
const own = 'service'

export class PortBook {
  readonly #runner: Runner
  #hasAdopted = false

  constructor(runner: Runner) {
    this.#runner = runner
  }

  /** A port for each name, the same ones when they are asked for again. */
  async choose(uid: string, names: readonly string[], client: ReconcileClient): Promise<Chosen> {
    await this.#adopt(client)
    const chosen = await this.#runner.ports.allocate(
      uid,
      names.map((name) => ({ name, port: 0 })),
    )
    if (!('ports' in chosen)) throw new Error('no free port was found')
    return chosen.ports
  }

  /** The port of a Service that names none. */
  async chooseForService(uid: string, client: ReconcileClient): Promise<number> {
    const [chosen] = await this.choose(uid, [own], client)
    return chosen?.port ?? 0
  }

  release(uid: string): void {
    this.#runner.ports.release(uid)
  }

  async #adopt(client: ReconcileClient): Promise<void> {
    if (this.#hasAdopted) return
    const { items } = await client.list(Service)
    this.#hasAdopted = true
    for (const { owner, ports } of this.#runner.session.runs()) this.#runner.ports.adopt(owner.uid, ports)
    for (const { metadata, spec, status } of items)
      if (!spec?.port && status?.effectivePort)
        this.#runner.ports.adopt(metadata.uid, [{ name: own, port: status.effectivePort }])
  }
}
