/**
 * `manager.json` in a data folder: the addresses of the managers that work on its server. `evenkeel why` and
 * `evenkeel rules` read their endpoints.
 *
 * A program may run further managers and replace them. Each has a name, and the last address of a name counts. Only the
 * process that owns the data folder writes and removes the file. Readers see all of it or nothing.
 */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export class ManagerFile {
  readonly #path: string
  readonly #urls = new Map<string, string>()
  #isOpen = true
  #writing: Promise<void> = Promise.resolve()

  /** @param folder the data folder, which this process owns */
  constructor(folder: string) {
    this.#path = join(folder, 'manager.json')
  }

  /** Adds a manager; it replaces the one with the same name. */
  add(name: string, url: string): Promise<void> {
    this.#urls.set(name, url)
    return this.#write()
  }

  /** Resolves when all managers so far are in the file. */
  async settled(): Promise<void> {
    await this.#writing.catch(() => undefined)
  }

  async remove(): Promise<void> {
    this.#isOpen = false
    await this.#writing.catch(() => undefined)
    await rm(this.#path, { force: true })
  }

  /** Writes one after the other: the last write is complete. */
  #write(): Promise<void> {
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        if (!this.#isOpen) return
        const managers = [...this.#urls].map(([name, url]) => ({ name, url }))
        const draft = `${this.#path}.new`
        await writeFile(draft, `${JSON.stringify({ pid: process.pid, managers })}\n`, { mode: 0o600 })
        await rename(draft, this.#path)
      })
    return this.#writing
  }
}
