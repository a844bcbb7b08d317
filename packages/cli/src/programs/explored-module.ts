/**
 * Modules for the Explorer: `FILE` or `FILE#EXPORT`, and what is wrong with them in the words of a person.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Failure } from '../frame/failure.ts'
import { readTypeScript } from './read-typescript.ts'

/** With its whole path; the file can be imported afterwards. @throws {Failure} `bad-file` */
export async function resolveModule(word: string, folder: string): Promise<string> {
  const at = word.lastIndexOf('#')
  const [file, name] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at)]
  const path = resolve(folder, file)
  if (file === '' || !existsSync(path))
    throw new Failure('bad-file', file === '' ? 'no module is named' : `there is no file ${path}`, {
      hint: 'evenkeel explore scenario.ts',
    })
  await readTypeScript(path)
  return `${path}${name}`
}

/** What cannot be explored is said by a RangeError. @throws {Failure} `bad-file` */
export async function orBadFile<T>(done: Promise<T>): Promise<T> {
  try {
    return await done
  } catch (error) {
    if (error instanceof RangeError) throw new Failure('bad-file', error.message, { cause: error })
    throw error
  }
}
