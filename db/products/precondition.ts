/** Throws unless the product, as it is before the write, is the one that the client means. */
export type Precondition = (product: string | undefined) => void;
