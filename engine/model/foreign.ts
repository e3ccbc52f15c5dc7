/** What published checkpoints hold beside the text model: a vision tower, and a head that predicts several tokens (MTP). */
const FOREIGN = {
  vision: /^(language_model\.)?(model\.)?(vision_tower|visual)\./,
  MTP: /^(language_model\.)?(model\.)?mtp\./,
} as const;

export type ForeignPart = keyof typeof FOREIGN;

/** The part that a tensor or module belongs to by its name; undefined: the text model's, or nobody's. */
export function foreignPart(name: string): ForeignPart | undefined {
  return (Object.keys(FOREIGN) as ForeignPart[]).find((part) => FOREIGN[part].test(name));
}
