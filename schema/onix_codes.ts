import * as v from "valibot";

/** The codes of the ONIX lists that fields are validated against, by list number. */
export const ONIX_CODES = {
  // Text format.
  34: codes("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15"),
  // Prize or award achievement.
  41: codes("01 02 03 04 05 06 07"),
  // Sales rights type.
  46: codes("00 01 02 03 04 05 06 07 08"),
  // Region (based on ISO 3166-2).
  49: codes(`
    AU-CT AU-NS AU-NT AU-QL AU-SA AU-TS AU-VI AU-WA BE-BRU BE-VLG BE-WAL CA-AB
    CA-BC CA-MB CA-NB CA-NL CA-NS CA-NT CA-NU CA-ON CA-PE CA-QC CA-SK CA-YT
    CN-11 CN-12 CN-13 CN-14 CN-15 CN-21 CN-22 CN-23 CN-31 CN-32 CN-33 CN-34
    CN-35 CN-36 CN-37 CN-41 CN-42 CN-43 CN-44 CN-45 CN-46 CN-50 CN-51 CN-52
    CN-53 CN-54 CN-61 CN-62 CN-63 CN-64 CN-65 CN-71 CN-91 CN-92 CN-AH CN-BJ
    CN-CQ CN-FJ CN-GD CN-GS CN-GX CN-GZ CN-HA CN-HB CN-HE CN-HI CN-HK CN-HL
    CN-HN CN-JL CN-JS CN-JX CN-LN CN-MO CN-NM CN-NX CN-QH CN-SC CN-SD CN-SH
    CN-SN CN-SX CN-TJ CN-TW CN-XJ CN-XZ CN-YN CN-ZJ ECZ ES-CN FR-H GB-AIR
    GB-APS GB-CHA GB-ENG GB-EWS GB-IOM GB-NIR GB-SCT GB-WLS IE-AIR IT-AG IT-AL
    IT-AN IT-AO IT-AP IT-AQ IT-AR IT-AT IT-AV IT-BA IT-BG IT-BI IT-BL IT-BN
    IT-BO IT-BR IT-BS IT-BT IT-BZ IT-CA IT-CB IT-CE IT-CH IT-CI IT-CL IT-CN
    IT-CO IT-CR IT-CS IT-CT IT-CZ IT-EN IT-FC IT-FE IT-FG IT-FI IT-FM IT-FR
    IT-GE IT-GO IT-GR IT-IM IT-IS IT-KR IT-LC IT-LE IT-LI IT-LO IT-LT IT-LU
    IT-MB IT-MC IT-ME IT-MI IT-MN IT-MO IT-MS IT-MT IT-NA IT-NO IT-NU IT-OG
    IT-OR IT-OT IT-PA IT-PC IT-PD IT-PE IT-PG IT-PI IT-PN IT-PO IT-PR IT-PT
    IT-PU IT-PV IT-PZ IT-RA IT-RC IT-RE IT-RG IT-RI IT-RM IT-RN IT-RO IT-SA
    IT-SI IT-SO IT-SP IT-SR IT-SS IT-SV IT-TA IT-TE IT-TN IT-TO IT-TP IT-TR
    IT-TS IT-TV IT-UD IT-VA IT-VB IT-VC IT-VE IT-VI IT-VR IT-VS IT-VT IT-VV
    ROW RS-KM RS-VO RU-AD RU-AL RU-ALT RU-AMU RU-ARK RU-AST RU-BA RU-BEL
    RU-BRY RU-BU RU-CE RU-CHE RU-CHU RU-CU RU-DA RU-IN RU-IRK RU-IVA RU-KAM
    RU-KB RU-KC RU-KDA RU-KEM RU-KGD RU-KGN RU-KHA RU-KHM RU-KIR RU-KK RU-KL
    RU-KLU RU-KO RU-KOS RU-KR RU-KRS RU-KYA RU-LEN RU-LIP RU-MAG RU-ME RU-MO
    RU-MOS RU-MOW RU-MUR RU-NEN RU-NGR RU-NIZ RU-NVS RU-OMS RU-ORE RU-ORL
    RU-PER RU-PNZ RU-PRI RU-PSK RU-ROS RU-RYA RU-SA RU-SAK RU-SAM RU-SAR RU-SE
    RU-SMO RU-SPE RU-STA RU-SVE RU-TA RU-TAM RU-TOM RU-TUL RU-TVE RU-TY RU-TYU
    RU-UD RU-ULY RU-VGG RU-VLA RU-VLG RU-VOR RU-YAN RU-YAR RU-YEV RU-ZAB US-AK
    US-AL US-AR US-AZ US-CA US-CO US-CT US-DC US-DE US-FL US-GA US-HI US-IA
    US-ID US-IL US-IN US-KS US-KY US-LA US-MA US-MD US-ME US-MI US-MN US-MO
    US-MS US-MT US-NC US-ND US-NE US-NH US-NJ US-NM US-NV US-NY US-OH US-OK
    US-OR US-PA US-RI US-SC US-SD US-TN US-TX US-UT US-VA US-VT US-WA US-WI
    US-WV US-WY WORLD
  `),
  // Unpriced item type.
  57: codes("01 02 03 04 05 06 07 08"),
  // Price type.
  58: codes(`
    01 02 03 04 05 06 07 08 09 11 12 13 14 15 17 21 22 23 24 25 27 31 32 33 34
    35 36 37 41 42
  `),
  // Price status.
  61: codes("00 01 02"),
  // Tax rate type.
  62: codes("H P R S T Z"),
  // Product availability.
  65: codes(`
    01 09 10 11 12 20 21 22 23 30 31 32 33 34 40 41 42 43 44 45 46 47 48 49 50
    51 52 97 98 99
  `),
  // Market publishing status.
  68: codes("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18"),
  // Country (based on ISO 3166-1).
  91: codes(`
    AD AE AF AG AI AL AM AN AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI
    BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO
    CR CS CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM
    FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR
    HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW
    KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
    MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA
    PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ROW RS RU RW SA SB SC SD
    SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL
    TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT
    YU ZA ZM ZW
  `),
  // Supplier role.
  93: codes("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15"),
  // Currency code (based on ISO 4217).
  96: codes(`
    AED AFA AFN ALL AMD ANG AOA ARS ATS AUD AWG AZN BAM BBD BDT BEF BGL BGN
    BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BYR BZD CAD CDF CHF CLP CNY COP
    CRC CSD CUC CUP CVE CYP CZK DEM DJF DKK DOP DZD EEK EGP ERN ESP ETB EUR
    FIM FJD FKP FRF GBP GEL GHC GHS GIP GMD GNF GRD GTQ GWP GYD HKD HNL HRK
    HTG HUF IDR IEP ILS INR IQD IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LUF LVL LYD MAD MDL MGA MGF MKD
    MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN MYR MZN NAD NGN NIO NLG NOK NPR
    NZD OMR PAB PEN PGK PHP PKR PLN PTE PYG QAR ROL RON RSD RUB RUR RWF SAR
    SBD SCR SDD SDG SEK SGD SHP SIT SKK SLE SLL SOS SRD SRG STD STN SVC SYP
    SZL THB TJS TMM TMT TND TOP TPE TRL TRY TTD TWD TZS UAH UGX USD UYU UZS
    VEB VEF VES VND VUV WST XAF XCD XCG XOF XPF YER YUM ZAR ZMK ZMW ZWD ZWG
    ZWL
  `),
  // Text type.
  153: codes(`
    01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
    26 27 28 29 30 31 32 33 34 35 36 37 38 39
  `),
  // Content audience.
  154: codes("00 01 02 03 04 05 06 07 08 09 10"),
  // Cited content type.
  156: codes("01 02 03 04 05 06 07"),
  // Publishing date role.
  163: codes(`
    01 02 09 10 11 12 13 16 19 20 21 22 23 25 26 27 28 29 30 31 32 33 35
  `),
  // Supply date role.
  166: codes("02 08 18 25 29 30 34 50 51"),
  // Tax type.
  171: codes("01 02 03"),
};

export type OnixList = keyof typeof ONIX_CODES;

/** What the message about an unknown code expects, if not "a code of ONIX List …". */
const EXPECTED: { [list in OnixList]?: string } = {
  96: "a currency of ISO 4217, in capitals",
};

const SCHEMAS = new Map(
  (Object.keys(ONIX_CODES) as unknown as OnixList[]).map((list) => {
    const expected = EXPECTED[list] ?? `a code of ONIX List ${list}`;
    const schema = v.pipe(
      v.picklist(ONIX_CODES[list], `invalid_code: Expected ${expected}`),
      v.description(`A code of ONIX List ${list}.`),
    );
    return [Number(list), schema];
  }),
);

/** A code of the list, described by its number for `/code-lists/{number}`. One schema for each list. */
export function code(list: OnixList) {
  return SCHEMAS.get(list)!;
}

function codes(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
