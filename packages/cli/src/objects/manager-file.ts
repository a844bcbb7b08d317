/**
 * Where the managers that run in a folder can be asked: `evenkeel up` leaves their addresses in its data folder.
 *
 * A program may run managers of its own beside the one of `up`, and exchange them; each has a name, and the last one
 * that listened under it counts. Only the process that owns the data folder writes the file, so it is its to remove.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const fileName = 'manager.json'

export class ManagerFile {
  readonly #path: string
  readonly #urls = new Map<string, string>()
  #isOpen = false
  #writing: Promise<void> = Promise.resolve()

  /** @param folder the data folder */
  constructor(folder: string) {
    this.#path = join(folder, fileName)
  }

  /** From now on it is written: the folder is ours. */
  open(): Promise<void> {
    this.#isOpen = true
    return this.#write()
  }

  /** A manager listens; one of the same name does no longer. */
  add(name: string, url: string): Promise<void> {
    this.#urls.set(name, url)
    return this.#write()
  }

  async remove(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#writing.catch(() => undefined)
    await rm(this.#path, { force: true })
  }

  /** One after the other: the last one has them all. */
  #write(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve()
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(() =>
        writeFile(
          this.#path,
          `${JSON.stringify({ pid: process.pid, managers: [...this.#urls].map(([name, url]) => ({ name, url })) })}\n`,
          { mode: 0o600 },
        ),
      )
    return this.#writing
  }
}

/** The addresses that were left in this folder's `data`; none if there are none. */
export async function readManagerFile(cwd: string): Promise<readonly string[]> {
  try {
    const { managers = [] } = JSON.parse(await readFile(join(cwd, 'data', fileName), 'utf8')) as {
      managers?: readonly { readonly url?: unknown }[]
    }
    return managers.flatMap(({ url }) => (typeof url === 'string' ? [url] : []))
  } catch {
    return []
  }
}
