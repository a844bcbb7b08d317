/**
 * Texts that several kinds print the same way.
 */
import { formatLabelRequirements, formatQuantity, labelRequirementsOf, parseQuantity } from '#api'
import type { LabelSelector } from '#api'
import { column, wideColumn } from '../column.ts'
import type { Column } from '../column.ts'
import type { FieldReader } from '../view.ts'

/** `app=web,tier=front`, or `<none>`. */
export function formatLabels(labels: FieldReader): string {
  return (
    labels
      .entries()
      .map(([key, value]) => `${key}=${value.text()}`)
      .join(',') || '<none>'
  )
}

/** The text of a label selector, empty when it is missing or selects everything; `undefined` when it is malformed. */
export function formatSelector(selector: FieldReader): string | undefined {
  if (!selector.has()) return ''
  try {
    return formatLabelRequirements(labelRequirementsOf(selector.value as LabelSelector) ?? [])
  } catch {
    return undefined
  }
}

/** A quantity in its canonical form; something that is none as it stands. */
export function formatQuantityCell(amount: FieldReader): string {
  const text = typeof amount.value === 'number' ? String(amount.value) : amount.text()
  try {
    return formatQuantity(parseQuantity(text))
  } catch {
    return text
  }
}

/** The first few, and how many more there are. */
export function withMore(
  shown: readonly string[],
  { total, separator = ',' }: { readonly total: number; readonly separator?: string },
): string {
  const text = shown.join(separator)
  return total > shown.length ? `${text} + ${total - shown.length} more...` : text
}

/** `deployments.apps`, or `pods` in the core group. */
export function qualifiedName(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** The status of the condition of a type, the first if there are several. */
export function conditionStatus(conditions: readonly FieldReader[], type: string): string | undefined {
  return conditions.find((condition) => condition.text('type') === type)?.text('status')
}

/** The containers of a pod template at a path, and their images. */
export function containerColumns(...template: readonly string[]): readonly [Column, Column] {
  const containers = (object: FieldReader): FieldReader[] => object.list(...template, 'spec', 'containers')
  return [
    wideColumn(
      column('Containers', 'The names of the containers in the template.', (o) =>
        containers(o)
          .map((one) => one.text('name'))
          .join(','),
      ),
    ),
    wideColumn(
      column('Images', 'The images of the containers in the template.', (o) =>
        containers(o)
          .map((one) => one.text('image'))
          .join(','),
      ),
    ),
  ]
}

/** A label selector at a path. */
export function selectorColumn(...path: readonly string[]): Column {
  return wideColumn(column('Selector', 'Which pods belong to it.', (o) => selectorText(o.at(...path))))
}

/** A label selector for a cell: `<none>` when there is nothing to say. */
export function selectorText(selector: FieldReader): string {
  const text = formatSelector(selector)
  return text === undefined ? '<error>' : text || '<none>'
}
