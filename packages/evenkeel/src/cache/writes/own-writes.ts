/**
 * Which versions of objects are our own doing.
 *
 * A change is ours alone if we know the version that our write replaced: then nothing of anybody else's hides in it.
 * Writes that do not know what they replaced (apply, a patch without a lock) are never taken for the whole story.
 *
 * Invariant: at most `writesMax` are remembered, the oldest go first; what is forgotten counts as somebody else's.
 */

const writesMax = 4096

interface OwnWrite {
  readonly namespace: string
  readonly name: string
  /** The version that was replaced; empty when the object was created. */
  readonly from: string
  readonly to: string
}

export class OwnWrites {
  /** The replaced version, by object and new version. */
  readonly #writes = new Map<string, string>()

  note({ namespace, name, from, to }: OwnWrite): void {
    if (to === '' || from === to) return
    this.#writes.set(`${namespace}/${name}/${to}`, from)
    if (this.#writes.size <= writesMax) return
    const [oldest] = this.#writes.keys()
    if (oldest !== undefined) this.#writes.delete(oldest)
  }

  /** Whether our writes alone lead from one version to the other. */
  explains({ namespace, name, from, to }: OwnWrite): boolean {
    for (let version = to, steps = 0; steps < writesMax; steps++) {
      const before = this.#writes.get(`${namespace}/${name}/${version}`)
      if (before === undefined) return false
      if (before === from) return true
      version = before
    }
    return false
  }
}
