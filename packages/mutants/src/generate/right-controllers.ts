/**
 * The right controllers: their names, and their sources, which the operators change.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface RightController {
  /** `children/website` */
  readonly id: string
  readonly path: string
  readonly text: string
}

const folder = fileURLToPath(new URL('../right/', import.meta.url))

/** Every file in a folder of `right`; the files beside the folders are the world of all. */
export function rightControllers(): RightController[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(`${folder}${name}`).map((file) => `${name}/${file}`))
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((file) => ({
      id: file.slice(0, -'.ts'.length),
      path: `${folder}${file}`,
      text: readFileSync(`${folder}${file}`, 'utf8'),
    }))
}
