/**
 * The seam to files: the session file, environment files, logs.
 *
 * Every method takes and returns plain data, so that the Explorer can delay, fail and lose each call.
 *
 * Invariants of every implementation: `appendText` adds the text as a whole or not at all, also when this program is killed;
 * `replaceText` leaves the old text or the new one; a file that is created can be read only by its owner.
 */
import { appendFile, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface Files {
  /** The text of a file; undefined if it does not exist. */
  findText(path: string): Promise<string | undefined>
  /** A part of a file; undefined if it does not exist, shorter than `length` at its end. */
  findBytes(path: string, range: { readonly offset: number; readonly length: number }): Promise<Uint8Array | undefined>
  /** Adds to the end of a file; creates it and its folders. */
  appendText(path: string, text: string): Promise<void>
  /** Replaces a file; creates it and its folders. */
  replaceText(path: string, text: string): Promise<void>
  /** Succeeds when the file does not exist. */
  removeFile(path: string): Promise<void>
}

const [ownFile, ownFolder] = [0o600, 0o700]

/** The files of this machine. */
export class OsFiles implements Files {
  findText(path: string): Promise<string | undefined> {
    return unlessMissing(readFile(path, 'utf8'))
  }

  findBytes(path: string, { offset, length }: { readonly offset: number; readonly length: number }) {
    return unlessMissing(
      (async () => {
        const file = await open(path, 'r')
        try {
          const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset)
          return buffer.subarray(0, bytesRead)
        } finally {
          await file.close()
        }
      })(),
    )
  }

  appendText(path: string, text: string): Promise<void> {
    return inFolderOf(path, () => appendFile(path, text, { mode: ownFile }))
  }

  async replaceText(path: string, text: string): Promise<void> {
    await inFolderOf(path, () => writeFile(`${path}.new`, text, { mode: ownFile }))
    await rename(`${path}.new`, path)
  }

  async removeFile(path: string): Promise<void> {
    await rm(path, { force: true })
  }
}

/** Creates the folder of a file when the write shows that it is missing. */
async function inFolderOf(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if ((error as { readonly code?: string }).code !== 'ENOENT') throw error
    await mkdir(dirname(path), { recursive: true, mode: ownFolder })
    await write()
  }
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
