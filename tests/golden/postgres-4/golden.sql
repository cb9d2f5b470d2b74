SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA golden;
CREATE TABLE golden.ammi (
    n_bits integer,
    fingerprint text,
    vector_kind text,
    vector_width integer,
    text_index boolean,
    language text,
    texts bigint,
    characters bigint,
    change bigint,
    "position" bigint,
    number bigint,
    format integer,
    codes integer,
    vectors integer
);
CREATE TABLE golden.codes_1 (
    "position" bigint NOT NULL,
    code bit(32) NOT NULL,
    checksum bigint NOT NULL
);
CREATE TABLE golden.documents (
    "position" bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    id_is_text boolean NOT NULL,
    change bigint NOT NULL,
    text text,
    metadata jsonb NOT NULL,
    metadata_text text NOT NULL
);
CREATE TABLE golden.files (
    number integer NOT NULL,
    name text NOT NULL,
    content bytea NOT NULL
);
CREATE TABLE golden.indexed_keys (
    key integer NOT NULL,
    name text NOT NULL
);
CREATE TABLE golden.key_values (
    key integer NOT NULL,
    value bytea NOT NULL,
    "position" bigint NOT NULL
);
CREATE TABLE golden.keyed_changes (
    number bigint NOT NULL,
    name bigint NOT NULL,
    digest bigint NOT NULL,
    outcome bigint NOT NULL,
    seconds bigint NOT NULL
);
CREATE TABLE golden.vocabulary (
    word text NOT NULL COLLATE pg_catalog."C",
    stem text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE golden.words (
    "position" bigint NOT NULL,
    characters bigint NOT NULL,
    words bigint[] NOT NULL
);
INSERT INTO golden.ammi VALUES (32, 'cda8054fbc73db5e', NULL, NULL, true, NULL, 78, 5988, 3, 78, 80, 4, 1, 1);
INSERT INTO golden.codes_1 VALUES (0, B'10110001011110001101001000011100', 597384361);
INSERT INTO golden.codes_1 VALUES (1, B'01110000011111011001111000000110', 1256270591);
INSERT INTO golden.codes_1 VALUES (2, B'11100010011011011100000000010110', 4016438309);
INSERT INTO golden.codes_1 VALUES (3, B'10010110000000011100001010011111', 4039455309);
INSERT INTO golden.codes_1 VALUES (4, B'10110010011010111100001011011110', 2706973116);
INSERT INTO golden.codes_1 VALUES (5, B'10110100011010011100001000001111', 1858530762);
INSERT INTO golden.codes_1 VALUES (6, B'10110110011010011100001000011100', 2133502983);
INSERT INTO golden.codes_1 VALUES (7, B'10110000001000001101001011011111', 2174708856);
INSERT INTO golden.codes_1 VALUES (8, B'11110010011010011100000011011100', 3711447488);
INSERT INTO golden.codes_1 VALUES (9, B'11111010011110011000011010011110', 1067143822);
INSERT INTO golden.codes_1 VALUES (10, B'00111100000110010101001000000000', 3534776934);
INSERT INTO golden.codes_1 VALUES (11, B'10010111101000000110111001011111', 3552873547);
INSERT INTO golden.codes_1 VALUES (12, B'11111001011011110101111000110001', 2465101643);
INSERT INTO golden.codes_1 VALUES (13, B'11010101111001111101001100001000', 808214009);
INSERT INTO golden.codes_1 VALUES (14, B'01110100111110010001000010010100', 2741762107);
INSERT INTO golden.codes_1 VALUES (15, B'10111111001110101111001001110101', 4085028328);
INSERT INTO golden.codes_1 VALUES (16, B'00010000011111001100100101011101', 2982594483);
INSERT INTO golden.codes_1 VALUES (17, B'11001001010101001000100100001010', 4048154048);
INSERT INTO golden.codes_1 VALUES (18, B'10100001011010010101100000011100', 3201412776);
INSERT INTO golden.codes_1 VALUES (19, B'10000001111110001000001010010100', 3318799836);
INSERT INTO golden.codes_1 VALUES (20, B'10001010001011110001011000010011', 4126402926);
INSERT INTO golden.codes_1 VALUES (21, B'11110101011001001101101010011110', 3148069684);
INSERT INTO golden.codes_1 VALUES (22, B'01010011001100010100010000111010', 1497730383);
INSERT INTO golden.codes_1 VALUES (23, B'11011011010011111001101000000111', 1898497532);
INSERT INTO golden.codes_1 VALUES (24, B'00010111000010110101100001001011', 3252561952);
INSERT INTO golden.codes_1 VALUES (25, B'00101001000100001000001101001110', 2042168585);
INSERT INTO golden.codes_1 VALUES (26, B'00110001010110111011000000010100', 773421185);
INSERT INTO golden.codes_1 VALUES (27, B'10001100011010010001011010010111', 4236437211);
INSERT INTO golden.codes_1 VALUES (28, B'11100010011011011000001000010100', 3225218938);
INSERT INTO golden.codes_1 VALUES (29, B'00110111011100101101000100010001', 2343328330);
INSERT INTO golden.codes_1 VALUES (30, B'01111001001000100001000111000010', 3839097953);
INSERT INTO golden.codes_1 VALUES (31, B'10100010010101101101101000111000', 3565391060);
INSERT INTO golden.codes_1 VALUES (32, B'10110000010111001001000001000000', 1465190191);
INSERT INTO golden.codes_1 VALUES (33, B'11111110000010110100000001111111', 3494004729);
INSERT INTO golden.codes_1 VALUES (34, B'10110011011110110000000000011110', 4116374272);
INSERT INTO golden.codes_1 VALUES (35, B'10110110001010001001001000011001', 2788613046);
INSERT INTO golden.codes_1 VALUES (36, B'00110011010011001001001001111101', 3007523656);
INSERT INTO golden.codes_1 VALUES (37, B'11111000010011111001110010001010', 3033756115);
INSERT INTO golden.codes_1 VALUES (38, B'01110001110111101000111000011010', 4134351642);
INSERT INTO golden.codes_1 VALUES (39, B'00110000010110101101010000011100', 1249040902);
INSERT INTO golden.codes_1 VALUES (40, B'10001001001111001111101000001111', 1952206449);
INSERT INTO golden.codes_1 VALUES (41, B'01001010010011000001101000001000', 3425214382);
INSERT INTO golden.codes_1 VALUES (42, B'11010010101001100011110110110110', 183170364);
INSERT INTO golden.codes_1 VALUES (43, B'11001110000011001111001010011100', 3336144710);
INSERT INTO golden.codes_1 VALUES (44, B'11110110011111101100101001011010', 3577738503);
INSERT INTO golden.codes_1 VALUES (45, B'00111001011110010011001010011100', 3861096385);
INSERT INTO golden.codes_1 VALUES (46, B'11000010011001110100110011111110', 3354707902);
INSERT INTO golden.codes_1 VALUES (47, B'10011100010000011101010110010001', 4119047243);
INSERT INTO golden.codes_1 VALUES (48, B'00110010011010111100000000001010', 1516127113);
INSERT INTO golden.codes_1 VALUES (49, B'10010000000000101100011001011010', 1509281626);
INSERT INTO golden.codes_1 VALUES (50, B'10101101111000001101000011111101', 1313152224);
INSERT INTO golden.codes_1 VALUES (51, B'01111111010101101100001001010011', 3302255676);
INSERT INTO golden.codes_1 VALUES (52, B'10100000100000101111001001011001', 999007273);
INSERT INTO golden.codes_1 VALUES (53, B'10111101111111000000110000011110', 1409723512);
INSERT INTO golden.codes_1 VALUES (54, B'11110010100111111000010100011000', 2510381792);
INSERT INTO golden.codes_1 VALUES (55, B'01110001001001011001010100010100', 2573752505);
INSERT INTO golden.codes_1 VALUES (56, B'00110010010001011111010010010111', 3573434166);
INSERT INTO golden.codes_1 VALUES (57, B'10010011010011100101010011110100', 1423353352);
INSERT INTO golden.codes_1 VALUES (58, B'10000110001100001111000100010100', 4209750801);
INSERT INTO golden.codes_1 VALUES (59, B'11100100011011001110010010111100', 137354016);
INSERT INTO golden.codes_1 VALUES (60, B'11100001011001111111111010011101', 2930897825);
INSERT INTO golden.codes_1 VALUES (61, B'00110010011001100100001000101110', 3064319353);
INSERT INTO golden.codes_1 VALUES (62, B'10011111101000101000101110110110', 367182618);
INSERT INTO golden.codes_1 VALUES (63, B'11000111011001011100010001011000', 4021428010);
INSERT INTO golden.codes_1 VALUES (64, B'01000110001100001100100010000110', 1809729416);
INSERT INTO golden.codes_1 VALUES (65, B'00011100000010001101011011001110', 1572149459);
INSERT INTO golden.codes_1 VALUES (66, B'11110000111010100000001010010101', 1973491515);
INSERT INTO golden.codes_1 VALUES (67, B'11010100100100101100001010111011', 1407057554);
INSERT INTO golden.codes_1 VALUES (68, B'10011101111011111010011000010000', 2985592997);
INSERT INTO golden.codes_1 VALUES (69, B'00010011011110011110010011000100', 432605605);
INSERT INTO golden.codes_1 VALUES (70, B'00110010101111000000000011001100', 3151301091);
INSERT INTO golden.codes_1 VALUES (71, B'11010111000110101111011000001101', 1062079176);
INSERT INTO golden.codes_1 VALUES (72, B'00010100001110100001011000011111', 623893881);
INSERT INTO golden.codes_1 VALUES (73, B'10000001101000101011011011111111', 2511004132);
INSERT INTO golden.codes_1 VALUES (74, B'00000101111000011100100011000100', 4073597602);
INSERT INTO golden.codes_1 VALUES (75, B'00111000011000000001000001111011', 1560821818);
INSERT INTO golden.codes_1 VALUES (76, B'10110000010001011001010000101110', 877135093);
INSERT INTO golden.codes_1 VALUES (77, B'11010000101010100110001001011101', 818098963);
INSERT INTO golden.documents VALUES (0, '0', false, 1, 'tonnes market export trade oil bank bank bank wheat dollar market tonnes number 0', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (1, '1', false, 1, 'export loan crop yen market loan loan crop trade dollar market bank number 1', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (2, '2', false, 1, 'price tonnes loan bank yen yen tonnes wheat rate tonnes bank loan number 2', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (3, '4', false, 1, 'trade market yen oil price crop dollar crop oil market crop market number 4', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (4, '5', false, 1, 'dollar market yen price tonnes rate loan yen dollar export oil oil number 5', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (5, '6', false, 1, 'price export yen tonnes bank crop export oil market loan trade oil number 6', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (6, '7', false, 1, 'yen loan export oil yen price oil tonnes trade wheat yen market number 7', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (7, '8', false, 1, 'bank rate oil dollar price dollar oil trade dollar tonnes rate bank number 8', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (8, '9', false, 1, 'market oil loan rate tonnes price tonnes dollar yen wheat yen bank number 9', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (9, '10', false, 1, 'loan price crop wheat crop rate market loan tonnes trade tonnes market number 10', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (10, '11', false, 1, 'tonnes wheat yen crop bank oil market rate export market yen crop number 11', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (11, '12', false, 1, 'price price export crop wheat export bank price crop market oil crop number 12', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (12, '13', false, 1, 'loan crop bank price dollar yen price export price export wheat dollar number 13', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (13, '14', false, 1, 'rate price trade yen yen yen crop crop wheat rate rate yen number 14', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (14, '15', false, 1, 'crop crop market crop tonnes bank rate tonnes rate crop dollar crop number 15', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (15, '16', false, 1, 'oil rate export crop oil tonnes oil dollar wheat export oil trade number 16', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (16, '18', false, 1, 'market bank dollar yen wheat loan export bank crop yen oil bank number 18', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (17, '19', false, 1, 'rate yen rate export tonnes crop trade bank export dollar market bank number 19', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (18, '20', false, 1, 'market oil wheat price tonnes crop rate loan yen trade trade trade number 20', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (19, '21', false, 1, 'wheat tonnes wheat wheat rate rate dollar trade dollar loan tonnes loan number 21', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (20, '22', false, 1, 'yen dollar bank loan price trade price price export dollar dollar market number 22', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (21, '23', false, 1, 'yen crop market oil rate loan trade loan bank tonnes crop rate number 23', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (22, '24', false, 1, 'dollar price bank tonnes crop bank loan dollar dollar price tonnes dollar number 24', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (23, '25', false, 1, 'rate bank rate oil rate rate trade market export trade crop yen number 25', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (24, '26', false, 1, 'market crop dollar rate bank tonnes price bank export oil price price number 26', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (25, '27', false, 1, 'oil export export crop yen dollar bank oil crop trade export tonnes number 27', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (26, '28', false, 1, 'market tonnes wheat export market oil loan crop yen oil bank wheat number 28', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (27, '29', false, 1, 'trade tonnes trade dollar trade market export crop loan crop crop yen number 29', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (28, '30', false, 1, 'market tonnes crop trade loan rate rate market bank yen dollar wheat number 30', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (29, '31', false, 1, 'market price tonnes tonnes loan loan yen loan yen wheat dollar export number 31', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (30, '32', false, 1, 'yen export trade rate export crop bank loan price bank loan dollar number 32', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (31, '33', false, 1, 'yen crop export loan crop oil dollar wheat oil market loan wheat number 33', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (32, '34', false, 1, 'market loan tonnes loan tonnes crop rate bank export export loan yen number 34', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (33, '35', false, 1, 'oil wheat market price crop bank yen yen trade rate oil price number 35', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (34, '36', false, 1, 'crop tonnes trade export loan tonnes rate yen crop tonnes trade rate number 36', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (35, '37', false, 1, 'loan bank rate bank wheat tonnes market market crop export bank wheat number 37', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (36, '38', false, 1, 'trade market oil oil rate yen bank price yen export market dollar number 38', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (37, '39', false, 1, 'wheat rate bank loan trade wheat yen dollar crop export export crop number 39', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (38, '40', false, 1, 'export wheat trade crop bank dollar market export dollar dollar price loan number 40', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (39, '41', false, 1, 'yen market export tonnes tonnes bank loan dollar rate oil export oil number 41', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (40, '42', false, 1, 'yen crop oil dollar rate export bank price bank tonnes crop rate number 42', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (41, '43', false, 1, 'dollar yen trade dollar crop dollar yen oil loan dollar yen wheat number 43', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (42, '44', false, 1, 'price oil yen price price loan loan rate crop price wheat bank number 44', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (43, '45', false, 1, 'price yen trade tonnes wheat rate price yen trade dollar bank crop number 45', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (44, '46', false, 1, 'bank dollar bank price oil crop market crop price export export yen number 46', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (45, '47', false, 1, 'export tonnes wheat export trade tonnes rate yen tonnes trade trade yen number 47', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (46, '48', false, 1, 'loan loan tonnes rate trade price tonnes bank price export bank price number 48', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (47, '49', false, 1, 'market price trade loan crop rate trade crop trade market oil dollar number 49', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (48, '50', false, 1, 'loan tonnes market loan export bank rate yen market loan rate dollar number 50', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (49, '51', false, 1, 'dollar export trade dollar export crop trade oil dollar wheat oil price number 51', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (50, '52', false, 1, 'yen yen dollar price loan loan dollar rate oil yen wheat trade number 52', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (51, '53', false, 1, 'crop wheat crop tonnes wheat loan oil export loan tonnes crop rate number 53', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (52, '54', false, 1, 'wheat yen wheat oil loan wheat crop market wheat oil market oil number 54', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (53, '55', false, 1, 'market crop oil wheat trade export loan bank market wheat market tonnes number 55', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (54, '56', false, 1, 'wheat dollar bank loan market wheat dollar loan price bank rate yen number 56', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (55, '57', false, 1, 'price yen crop market yen loan trade bank loan trade rate loan number 57', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (56, '58', false, 1, 'loan price market crop yen crop bank rate oil loan yen yen number 58', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (57, '59', false, 1, 'tonnes rate wheat oil wheat yen price tonnes trade oil trade trade number 59', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (58, '60', false, 1, 'dollar dollar trade loan tonnes export tonnes trade wheat bank market bank number 60', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (59, '61', false, 1, 'wheat loan price wheat export crop crop rate yen price export price number 61', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (60, '62', false, 1, 'dollar trade loan yen price market rate yen trade rate trade oil number 62', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (61, '63', false, 1, 'market export dollar price tonnes bank oil wheat oil crop rate wheat number 63', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (62, '64', false, 1, 'price tonnes bank dollar dollar price bank export yen dollar wheat market number 64', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (63, '65', false, 1, 'loan dollar yen yen tonnes market price tonnes loan dollar rate wheat number 65', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (64, '66', false, 1, 'loan yen crop rate tonnes price crop price tonnes wheat oil crop number 66', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (65, '67', false, 1, 'crop rate rate bank crop oil export crop dollar trade oil dollar number 67', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (66, '68', false, 1, 'export wheat crop loan dollar crop loan yen tonnes crop export loan number 68', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (67, '69', false, 1, 'market crop price dollar trade dollar rate tonnes oil market rate oil number 69', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (68, '70', false, 1, 'rate export crop wheat trade dollar wheat wheat wheat loan export export number 70', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.documents VALUES (69, '71', false, 1, 'bank market oil yen dollar rate trade market wheat price oil loan number 71', '{"year": 1988}', '{"year":1988}');
INSERT INTO golden.documents VALUES (70, '72', false, 1, 'yen yen oil loan dollar yen dollar export loan export loan trade number 72', '{"year": 1980}', '{"year":1980}');
INSERT INTO golden.documents VALUES (71, '73', false, 1, 'price wheat export yen dollar yen wheat wheat oil crop bank market number 73', '{"year": 1981}', '{"year":1981}');
INSERT INTO golden.documents VALUES (72, '74', false, 1, 'trade export rate dollar tonnes export dollar export yen trade oil wheat number 74', '{"year": 1982}', '{"year":1982}');
INSERT INTO golden.documents VALUES (73, '75', false, 1, 'price yen dollar dollar wheat market trade oil oil loan loan loan number 75', '{"year": 1983}', '{"year":1983}');
INSERT INTO golden.documents VALUES (74, '76', false, 1, 'bank crop tonnes price loan wheat market tonnes crop tonnes bank bank number 76', '{"year": 1984}', '{"year":1984}');
INSERT INTO golden.documents VALUES (75, '77', false, 1, 'yen wheat wheat market bank dollar wheat loan market wheat price rate number 77', '{"year": 1985}', '{"year":1985}');
INSERT INTO golden.documents VALUES (76, '78', false, 1, 'crop export rate dollar yen wheat oil bank loan loan bank wheat number 78', '{"year": 1986}', '{"year":1986}');
INSERT INTO golden.documents VALUES (77, '79', false, 1, 'price bank yen dollar yen dollar dollar price price trade wheat trade number 79', '{"year": 1987}', '{"year":1987}');
INSERT INTO golden.files VALUES (0, 'config.json', '\x7b0a2022666f726d6174223a20332c0a2022616d6d69223a2022302e322e30222c0a20226d6574686f64223a2022446f63756d656e74486173686572222c0a202266696e6765727072696e74223a202263646138303534666263373364623565222c0a20226e5f62697473223a2033322c0a20227265616473223a202274657874220a7d0a');
INSERT INTO golden.files VALUES (1, 'features/features.json', '\x7b22666f726d6174223a20332c20226665617475726573223a2022776f726473222c2022706172616d6574657273223a207b226d696e5f646f63756d656e7473223a20312c2022766f636162756c6172795f73697a65223a2032303030307d2c202266696e6765727072696e74223a202233346130643365336364393532353337222c2022766f636162756c617279223a205b223130222c20223131222c20223132222c20223133222c20223134222c20223135222c20223136222c20223137222c20223138222c20223139222c20223230222c20223231222c20223232222c20223233222c20223234222c20223235222c20223236222c20223237222c20223238222c20223239222c20223330222c20223331222c20223332222c20223333222c20223334222c20223335222c20223336222c20223337222c20223338222c20223339222c20223430222c20223431222c20223432222c20223433222c20223434222c20223435222c20223436222c20223437222c20223438222c20223439222c20223530222c20223531222c20223532222c20223533222c20223534222c20223535222c20223536222c20223537222c20223538222c20223539222c20223630222c20223631222c20223632222c20223633222c20223634222c20223635222c20223636222c20223637222c20223638222c20223639222c20223730222c20223731222c20223732222c20223733222c20223734222c20223735222c20223736222c20223737222c20223738222c20223739222c202262616e6b222c202263726f70222c2022646f6c6c6172222c20226578706f7274222c20226c6f616e222c20226d61726b6574222c20226e756d626572222c20226f696c222c20227072696365222c202272617465222c2022746f6e6e6573222c20227472616465222c20227768656174222c202279656e225d2c2022696466223a205b332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20332e3731333537323036363730343330382c20302e3439343639363234313833363130372c20302e343336343237333333373132313331332c20302e343336343237333333373132313331332c20302e353335353138323336333536333632312c20302e343336343237333333373132313331332c20302e343734383933363134353339393237342c20302e3031323237303039323539313831343430312c20302e363030303536373537343933393333342c20302e353335353138323336333536333632312c20302e343535343735353238363832383235372c20302e363030303536373537343933393333342c20302e353536353731363435353534313934362c20302e353134383938393439313533363236362c20302e33363336363739373934323937303239375d7d');
INSERT INTO golden.files VALUES (2, 'hasher/config.json', '\x7b0a2022666f726d6174223a20332c0a2022616d6d69223a2022302e322e30222c0a20226d6574686f64223a20224c5348222c0a202266696e6765727072696e74223a202236636437333465623631656330366461222c0a20226e5f66656174757265735f696e223a2038342c0a20226879706572706c616e6573223a205b0a20202277656967687473222c0a2020227468726573686f6c6473222c0a202066616c73652c0a20206e756c6c2c0a20206e756c6c0a205d2c0a2022706172616d6574657273223a207b0a2020226e5f62697473223a2033322c0a20202272616e646f6d5f7374617465223a20300a207d0a7d0a');
INSERT INTO golden.files VALUES (3, 'hasher/weights.safetensors', '\x88000000000000007b227468726573686f6c6473223a7b226474797065223a22463332222c227368617065223a5b33325d2c22646174615f6f666673657473223a5b302c3132385d7d2c2277656967687473223a7b226474797065223a22463332222c227368617065223a5b38342c33325d2c22646174615f6f666673657473223a5b3132382c31303838305d7d7d20000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000078cce13f68e1cc3e938e7a3fcb6a0f40240cef3fe22e7abfff38733f62fd1abe6864d3bdf839d23e2880133ea225ba3f5ed3423fc030f93d0b42e33e5dd7aa3efc3dbf3f021552be694aa03e05a65abf2f6423c08c53273fb14b5d3f87fe3dbfa9431140a828babf486d3b3d20ad3fbe1c32c43ff313bc3f8aaa1e3e859ec13eed4563bfbd8afdbf8b21b2bef219203e2a7a9d3f95e7993fb34fc6be6dc79abefc3686bf26c3b5bf1067dabf02b3f93f917802bf464be0be995ba0bf9c09473f3494cebf97d859be4c3d65bf1618c63e20c402bff51e97bf6bdee6bc514edb3e2e3a883d99dd9a3eef6222bf36b9b9be5e262cbf5a17b8be5b2a50bfd4f6dcbf33af353e3bb6cdbe57aad0bfccf1ec3eb54468bfb2c4543daea53a3f1914043ee2d7913fc60e9ebfb9ffcd3eb74f2fbf90ec5ebf7e2f14bfd0839fbea10d663da12395bf919c663f4f6bee3ea2a3c4bf0c7fbe3f7facf23f40e2963f373e38be6c0e89bf46f8863f356dcebe14799c3f0946553e04057a3fa875b63efbe1343f47082c3c6897e43f3ef5013e8dd1cd3e150bf13f5e83acbf419fa2bf622a783fe82896bf94c8f83fdec5d3be33593fbff722f63f8281bd3f2c0cef3f8bf2673f49795cbf027df43fbd3789bec86d4d3f1b7f723ff7ba1ebe4e341d3fbd156c3fd9bac03e2ab98cbfadb2983e03c7a93f33cf31bfcc3919be72ccdebeadb4ec3f821b2c3fd69ed03e381945bf3c0c0a3f11a12cbfc260023dcfc622bfbb2a2d3f759b133f454c55be64c1ca3e71e98bbf87e1bebff3f7e03e75ac2a3e6c91223f7285184068c9713fb8ae69bf64fa8e3fa76fa8bfd154ecbe41c28bbdd04edb3f41a83ebf7a9153bf7aa1c9bdb7d929bf9b35903f323b8abf41e092bff329e0be1cfefebee8faf63f3e0d733f114eb33d12db9cbf2c28583f0e0780bf0fbbc5bf5c11983f4d46a23e67bd6b3f4530a33e40595b3f9da926bf126284bffa7c2e3f41ac4dbf568630bf8e3be9be74308f3cb13eb5be67feafbf2dc424bf3d4c0ec02b0f203f3a10cdbf6f5c8dbf0dab553d00543dbf8181c53f567ca5bfe4ba883e05e720bd168495bf76f5053fd7a92fbe1194453f2bd1523f75720a405913ab3f6705bdbed11f75bea5c18c3f5dbf273fa9df233f6af8cebf9547c7bc98ef3cbf47528f3e1203c9bd7c01693f6d6aa23eca4c493f7cceeebe3bc771bf09f2d1be656e8bbc2d20c23e85981040d6152dbdd0b874bf8624b1be745cedbebd84f63ed638c5bf818f813d4043203edec06d3eb5e918bfc1a173bea147b6bf6c94fcbef8f80abf8304d53ec9fd93bf99fc473f454bbf3fa27a04c0963eda3ed8492d3f132f23bf3667cbbed91108be0c7898bef3369ebe4b87d6bf9a7f933ff1308a3fa43850bfcbb3bbbf8264053fd76613bf2c5c113e047fa3beaf08313f14db313fc0c039bf1212b1bfba9dcabfd3411c3f8a2c98bfb7be01bf09a818bfce5057bd04d8f7bf2d4f413eb91d063fa416b53d792c9fbebd79c73dcd4fcc3e297231c0565bfa3f50bac73e400427bf0a2bc8beb9cbfc3ee7c7edbdbcf601c0a72004402463e2bd0595823f2e2a31bf01a8c43fa49b923e31dd1b3fddca85bfcf069b3fec97303fe6a2a63f59ca20bf3049f6be5f73134099ae87bf66360bbea885913f0724c83d743c153f9584ccbef777bd3e463ca7bfa03dd43ffefff1bd29202ebf15982a3f77e3ebbefbc8aabf3d61acbf1e9b313f386723be10e908be82f3893fd43b90bfb20d3bbff70ec5be683bc13df9bb2cbde1e292bef76b7cbddec2dbbdfe3738bf4f2050bf688d8c3e031364bf382494bfc5e49fbe767321be286e10403d6734bf8979713fbc473f3f592f98bfe8f3453f678997bfe12f2ac0c2371b3f06c1e0bfe2e0e63e571b2fbf296cd43feac4883f2f22e8be201630bfe3669bbf9cc0e1bec18a8fbe1db9babefa76203efc19143fe905b33ef09e43bf8d09b8bffba8ae3fbe7f30bfb7fc26bfaa6c05bfb4e9ebbf02b9f4be7295f5becdcf1e3f16ce323f0521773b9d8d6e3fe40fae3ec67780bc5bca243eab3a43beb729cabe5f1489bead6290bf0e968f3e593d7ebf2675573f12727fbe40bb4a3d2dd8fc3e42b0243f300ac9bf8fde53be6853613f885bd9bfa049c63e2a5b10c081e182bf123b1e3d3e0fd4bf6f4a7cbf1765bcbf16f6d23f522b283ef039113ff10464be02f5b4bea0e8cebfb56b95be27f142bfe7a05b3fa00f923fdab8bb3fd8405a3f624119bfb6d58ebf0a44443f036cb63e785fe2bfb601b63e5f84503ff55b713db67e3dbe0dc24ebf0d28b9bf54e04c3f40449ebee2116fbecfc9dd3f773b2f3fc6dcbd3ea678113e318fc23f811bdc3f0cf46d3fac0c153ffa0d06c0ea61fd3dc23a05be8d6ac03d786b713fdf562fc06fbe11bfe7308a3e6106efbe2e5db5bf64745e3f28c28d3e4f9a78bfb82fa13e7153523fef6dad3bd1f14c3fdf46a03d745bcabee46794bf78fcafbdbaf4463e9336603f77bdebbd6132ea3ed0f076bf625a48bfc913e2bd11fe86bfc3fb513f6b1fed3ea4e58e3ed784ad3ec7580140f80ef0be6ae40cc05a154c3ea9454fbd217c04bf98947abf73dde0bec8b0393e98b800bfa4651a409de375bfbd094bbfc07812c091c2803ece0c01c0b3190abfb0248dbebbb035bf6193de3fa1907e3f7ad9a83f33e661bfc575903fd6f3fd3edc7a453fa7c4833fb5a468bf2940d9be18d35c3faaf529c0bcb4c13f109a0d3f14343bbdc2cc613eebd483bfc72bb3be1ed68c3f9625a63fef8e2c40d16597bded9628bfd6a403bf324f82bf50729fbd81f5c33ea2410cbd18558c3f44d66fbe0de5b1be03ce14bf2bfad0bf9dacc8bfa6ee96bf3295a63fc72f653fd3feaf3fe985aabfe5fbfbbf73f928bfe209343e5554ff3ef423863f1b8d913ec50fdf3fbef263be8fbf69bf2932d7bfa09363bfc5ed773e2c8363bf5bce6f3f27c7b43f50a717c088325d3fac550fc04991cd3e8fc89c3f47d3843ddbcca3bfd2de15bf64f685be609e3abe30c44fbe390ae1bd849a5a3e8bb29abf0cd477be6256c23f3ff0c4be7c3ee3be5f028a3faec923c06a37973f72c421bfe4dc273e2244c53d9745713f2e0289be19932dbfd01fa63fa04e17c0df93a63cd288acbf79f642bf6eb80040b2a936bd5ac0473e400ae4bfaca23abf5846493ecda2b53e47ec1d3f085c0d3cbfe9063f1a56e83eef34eabf5093173d4195443f5d02173fb44bbabe8a3d4ebfd8248fbf063306bec308913fb8d4f9bfaaee28bf0ce591bffaf2483f3ce70dbf6bf7f0be07285ebe960ae43e36e7c8be02f442c07d160b3f3dcae03e5dcf60beb6c18abf861cb43e292bc23e26a8f0bedbee5dbebd1e6ebf0fe036be7874c6bfd0aad53e22c271bf50d1733e98f6b3bf050e17bf4548e2bdd091d4bfa6d2eb3da11fc2be8705dfbfa9d0a6bf26e91a3f2843653f0f1307bef13ccf3e3f37653e58c4a83e209ba43f53e5c0bf882c2d3fae96c3be22a465be7ac09abe4813c0befff39cbf45bd3b3e76e1d53fbdeb65bd538ab5bad4f22fbf7f96f0bd5eadee3e6b90bdbe0159e8beb178ce3e5c026bbf3d47813e9c00523fcb12ae3f341ab9bd6d0daf3f8b67843fcb077fbf69e59bbf32249cbe29b4833f360b94bdb2c419bfe8afc63f25e5923e9e8414c0e162a23e6221053ff505673eaa40e63ecbc789bd32c1a8bfeaccbdbee01372bf1cc86ebf39aca1bfa6ace73ec67dc83dee75e5be033b26bfd0e1bfbc0e238a3f124500c0f6f5c03ec8b30bbf1c3af1bfcc0cf9bf2eac69bf1dc7603e8b3fc93e196170bfbe2d823f5324b63fdccbca3e2a6617bff8ec8f3f9d61413f6a0e5e3f010e28bf576935c0817907404331cebf8b8112bd225e18405b41a93ed101733f884ec0bf978ae3bf365f08bfb09d8b3f9c47b1be496d4bbff0b74a3eda7c8a3fcdf3b8bf13f39abf3ae649bf1c1d8c3f0e75703e34750840e8ba6f3ff6bf0fbd12eea13fac92583eba7534bfd5122e3f774232bfeeae94bec9f4a93fab6ccfbdad9a4dbfabbdedbe09ca823f4e730dbff013c6be8ca202bff7563c3eea5ec5bef708cdbf4a1e63bf43cb6ebf17259f3f680b503fa156163f2a5f01bfb7d750bfacec01bf02a486bf22d21f405ab30fc0dd62103f366ca4bf0ab2d5bdb2ed7cbf8cbc96bff4f191bf63a3e03f1e2e08be0f0544bf0e480e3f2c90293c2254383f3e81e9bff9719b3e54cf453f41afd4bfda79e53e7a1cd93fba6d73bca947523f81aa2b3f181f35bf72e2223d4893c8bf3111e7be4108883e1d1d393f5e9fc93cdb50383f082c8dbfa946d0bdcdef9d3c68bfec3f814e5bbe1c7fffbec3e8ae3c054b6bbf4461453e84e8babe394ae5bf74f86fbd0295a2be3ff3d0bfa27d89bd37a3be3f2a74053f43a71c3f2ab6abbf062cf43e2b03183e826f073fc762d83e4b0daebfe69329bdd30342bffb244dbd11bc65bf07ffa73f9de55bbf132166bfc2c0983d62de89bf786dd9be8f7854bf49a1b43f712a493f28656bbd9a4dc8befadf703fe976cf3eba00ff3e1a91d6bcec17d8bf9154e6bd425108bf5822253f0e84813f7b6f28bf30d0ef3e4831de3f39ef2abf3649d73f11435abf1916bc3c169c36bce2653c3c117256bfc75717bfb7ef2abfa467a73e5dfaa83edf750e40917caf3f168502bf4f55a63e20437f3fadb0fa3c3ea08ebd3f40533dd7055e3f892b59bf26bea6be9ddcf03efe759f3e2f55753e9456bdbe1bf8783f4c910840b115d03e1dd045be3278413f99040abfb5eb3fbf7762063d8a4c25c0a5b493bf0e28b2bed93badbfa62d84bf7a9ddfbeb04cd2bfa4e8cfbe770709bf951ed03c4dbc933fffa4303e438aac3cc7aecb3da7d9683e7e2482bf530febbda5149e3e1075afbf6e9b5d3f886a8a3fdba121bf412177be15d160bf990a333f22d687bf03d163be2de25bbf6fb5503d4ea9e5bf7fc9a93f72f076bf2154753da49f59bef01943bf8f4563bfd1b76f3f629006bfd2d68a3ee62e4dbfafad25bf61caf13e402f6e3f258633be7801b6bf06bdff3fd1465bbfbc52c5bf0d0b264052ddcebe0f1abbbfe9f52ebfd82ebc3e08e1423eed0a5abf024fe93f3f8605bfcfa397bf01f0753fbb1eaa3f3a4751bf595fb3bf67e5833f5a0703c0f0019dbf8daa773f5ab962bdcc2287be61a4b43ee6701cbe5e3ba6bf7056a33f0f9aa93fb342523e72de383d6abc15409b888dbe46e784be499dba3e4754bc3fe9dfcb3fa26384be98dd9d3e0a65b0bf55bb9fbe451d57bfdddf80bfe83dd73f4cd34abf531708bf8850bb3e231fa63fb954f63e4699304086eb98bd7b76843e881b8d3eb3afb73f69da013fd609eebd9d8e72bf634f7a3e445fb33f901dd2bed968073f2a0e7c3ea00f5d3f57044ebf772f16408dbba3bf8329bbbed526703f69ed973ef979543f2001febe5b3399bda868483c80ddc83ff5bf303fb4f24b3fd86d28bfb108783fe1fe663e84cfb13f5de6004067109dbef706d0be0d325dbf820613bed798c3bef610b83e530914be8a23b9be5344883feb1870bf53c0dd3e98d7cfbe3770393f4050b13fb22f9bbe11cfe13e7a15373ef2a64cbf0091763e9a07943ece63d33e15294bbee5e7c03deae492bfba5ab7be92530e3f2b79643fa639d8be4f74d63dd086693ec2504e3e23700a3fc5b6e8bf09084abd39c5743ed30a80bf2a45d63fcb6f253ea61dc83fb75f4abfd24468bf60a2653e43dfd6bff11f5c3ee01ac73d5201823f7277333f97bfd5bec57a8cbfd12cdb3f0dc84abfc0d385bf90dc8abfdc038f3fa5d604bfc7f240bf90fe0c3e50e953beaa972dbf9605413f425c883fc53d7c3fd954443fef24ce3e4c50e3bf03aad53f549e9a3e24b01b3f16b78e3f1878b73f4438d63ee8ffde3ec36619bf1e89073d50aa5abf064e38bf4bc164bfbac41fbeb048863f40f14a40310c423ecd98acbff9eaa13f58009abea51d29bfc8e2563ec9cc9ebf62cd633e3afeb4bd5b7ac93dfe48c33e61398a3d72d7853cac91913e64afd43e9e0784bff409b7bf2f787cbde063b7bfb343b33db751703fac6b1b3f732a86bf293a5cbf1b17a83ee876cdbea520a2beddce183fd2be7cbfa36ecdbe35d24cbf448585bf7a695bbf296e2d3f9e41543dac1061bfe6a56cbe70c4d1bf63ba3bbfa1920940c4d1b8bd004e3b3fc51e86bd3d43b23e48cb293f14648dbf096efdbc4118ca3feda54bbf340211bfb6899dbe86bd893e0461063f8c3aa23f3cbeff3e6b2b7ebd632ca13f9f40343f6d72bfbf04b02140c98ce23f59402cbe6f7dc13e9684a93f685530be56f83a3fd4628d3fd1e581bf6c321abf6ce16b3fe0efeb3eee7d6c3fe9bf07be7ef893be6bd3ffbf24b092bf61c8403d2f16533f4efb073fdd5103bea5258bbe56645e3e2f2da03d26c8b33f92f4153e7899bdbf2fe3a2bfb566c23f96e895bf1bb6433f276889be1ed52dbe1b5a09be58569c3f547845becd7908bd5ef1c3bfada6533e67f2073f94e2743e44eeb23f5cfb613d9313993e2e02d33fdd66c6bff161e9be5f8cb63f29a66f3f51aa2d3f9928553f3975a73e2fd8d03fa669c13eb99f753e10c6223e217e453e241994bfd44a453ffe9105be8434e93fa2ee9abd9a82d73e49857c3e812420bfaefc7d3f20d9f33f271c72bc5bd899be53c6b5beea38f2bfa61436bed382803e4f02873fb0c5753f5e3fd5bebebb8dbe21dc8f3f85a031be4c9102bf0b3eb23f9bcf843f3ef1993ccc0118bfa6c200c0d1f6163f7c7865bfcd3afbbf66dbca3f38e1253f05cb91bf81719bbf5af75e3fafc260bf3de8a53f47d01d3f645e093f3e34cf3eb30b443e2f69613f397de8be9707b03d927f403f1820103f54f598bfd91a00bf766f813e4ee7d0be0328e33f604bc9be981c26be60f9443f963ba93ed4c214be8fa941bf0d609a3e1d01853ff84bf53e093747bfa44ede3f7729b9bf7195cabf14e7753fba42673ef0ab0cbff79d8cbffc87144057cdef3d68c1083fd6c1a23e269fde3ea1430a3f24803b3f271dc0be195295bed6d9debf08c247bf4ccf8a3e53c3853fa85a193f3a6faebea6afa1bf41c031c0056c933fb6d716bf359de5be54bb063e64e9b3bfa616b3be908001400a61013f81efb73e2e8fcabf2c970f40251eb6bfbd0ef63f145d07c004e3b33f671ccf3f7a0c53bf745cd83eb0270c3fd65450bfb07cb9bff6aaa8bf847f0a3f1751aebd087610bf1c7e773fbd10023f016641bff9c099bf7bf4053f109f09bfeb2bcb3d2ac4c93f9598003f88bd5cbf5e84243e8ae073bf0ee4cd3fa0c30fbfc83e543e208f9d3e8e12233ebbb1fabf5324b9bf759ae7be928ca33eff150dbe9e0775bf2b99acbff398cdbe18dcefbe4049033f3713a7be0d4b1a3ff83a18bfe20c83be2333b2be344948bfc707203fd44750bf4c8a05bfc1bf95bd8910a6bfe05da6be2c1836bf25bcc6be117775bd24c74cbf8c5b61be7582a73f7f57d3bcf397923fb867b13e642f463ff14246bf91d9d63d7820093e0ad51cbfe1a452bf04c1bebf8181bf3f65ef78bff950ac3f445befbe5ccc5cbf6a5d1f3fcc9521bf8686113f4e66aabe33faf53e0bdb77bf6cd3543f8ed7f93e3a6e6bbfdc25294081450a3f0397124093d5cc3fe85d41be4915d3be3492cebe603eeabf402232bf3cb07c3e9452c33f61d445bf76ce613ffb54a0bf121916bfde4feabe065ebe3e7d24ea3e075c763f9255453f1701793eeaddc73ef954cb3f0fcc02bf9854463f4371e7bf679ad23e7c6cf7be4881283b8c21853f6398283ea79b623f53a4bc3f5337c73eace4953f0033a7bebe8206bc63ca05bf4a80853fc803d43e1eda01bf82611e3e1d52853f79d720bd43ed72bfe013073e2c83fdbf27ce443f40b8d7be7f49f0be982d603fa8bdaebf873af93f49e2f5bec6f305bf7eb7823f0e6d353ff3e01c40624658bec197f6bd3a5abdbf4f09aabeb9af38bfcac4e5be8b41dfbfca8ed43f4353b5bf4a5733c04b1e98bf3b951abf962493bf36958c3fb7250dbe79f5cf3ca2421c3f3c70923e63837a3f5c038ebf252a0cbfd37c2a3f243622c00c06b0bf0741003f34e3f5bebfa46f3f71264f3f1c5b99bf5c35d03e3cd1993f0bf9163e233b7abfb31f613f2fab223f8ae80a3fc547373fbda73fc02085613fdd70e73f148fdf3ec05a453ece49323fe42bad3e23db263f94cec03ac54644bfa68d80bf7e897fbfdcbfafbfc5ab88bf2b71e13f6a0c413fcc0120bf8de1c7be9084e63dcdd127bf47468a3d1111473ff96612bd410aac3e1cf1623fdb548bbe13d0913ebd669ebe60b5e9bc0c43a6be046407bf85e1313e1d09113fd5d0153e2459ff3e19e93cbfff139abfba86d53eff18303f22374c3d708cac3ff35e683f798e2b40bfa04dbe8eb47fbf9b793dbf77c410bf63baf33ecc1d0ac048c6a83f2a0a75be73b77cbeeb278abf16efe9bd9ceb583c43bef9bd2d99ad3e20f216bf2f5465bf3b5f0c3f2912ca3dd5e9493e348e873f64e382bf0af15abf93eca03f1fcfbdbfd19aa7bf655f513fc0ea733ef283d73deeb7bbbd6612003d47a5bcbd257fad3f12dacbbe1b3f25be80b0e53f075ce13c5bd90e4099ffd6bd7407af3f50e2d3bff9541d3e08d0cabf282e583f413f9bbf3e4a913efa7b90be014094bf3047cfbf8cd302bff2ccde3fac4396be08cf6a3fc8a569bd2a71603f3bd8e9bfb36ecebe3e0c733f4e2c27be780fb1bd8165dcbedd1e933fcd53983eb450343d399f243fe995163f6bb0593e2105c63f10f076bda4608e3e8a9824bfceb7193ec53bcb3f88ac24bf921991bfa42b7f3f275618beda9dc43dbac838bd920aa23d61bc593fd8d056bfd08181bfc603ae3dd19fcdbf38c0afbf79efee3f72e9413fe6c324bc03779e3f5b3285bfbc96a1bea89a1f3f0f03643f854e033fa8a322c03bd477bf4542f43e463fb6be28932240ed326d3f74de0e3f34f88ebf509310bd2cfe763e375b903fcf91613ffd38843f7f856cbf63c1b43ff4b1b0bfb23109bf098edc3e2e7d19bed1c580bf175152bf332dc6bf7d2f083f525aa13f1c9bcdbd85faccbe1475bcbf9ac7693f03860d400813e6bf921e88bfcff92dbf237710bf60cd683ebb9fce3fb719813f9f10073f645339bffa4f8fbf77f94bbf0e27c63f8be67cbdb9c7e4be762a3cbe2e1a533f750ba8bf981ab53f503b203e47895dbebabce23e7ba35f3e853ab0be4b6381bec76d5ebf3909283fbf3008bf5acd74bf21d8293e4d21aa3f030546bd86ac1bbf76cbce3e32e6f73f0ad8b9bf15b0c33e3a02523e24ad943f39ac7d3fac303fbe439ed7bff77a4e3f30cf55bf945d72bf27fd923f7e2d69bf6b90b33fd7f3ab3e7d63a33ecf519d3edeb7d1bfb460e3bff1b95c3eee68113ff92fa93d165052bf87029b3c8601a8bd500875bfd7c9813fb079ddbfd3b7163f0ac6c43e3d3e813f0fae80bf8daecf3d5ef40a40b37d293f85fdcd3d79060a3f7c7db03dac370c4095cf7b3fe556afbd9631813ead16c8be5edc9a3f3efbb3bf1268cdbf2ab7ba3fb7cc0940a9c5ef3e26e3e63db242283f4da525bf785a2f3ebc5e1f3d8466203f7f6cc7bf08cd01bfa251583fb8f32cbfee4c7ebf4fb102409f211c3dfb3314bf989fd8bf71b63a3f96fa323f05f798bee1158dbfdf1bc9bcaafa55bf0c2d71bf3561d3bdf69386bf8b917c3e66a51b3f27f256bfa822afbf03d8c73f8db570bf01f228bf2c215a3e4570193ff83b83be3cedeb3e0f4ecdbea49e78bf8d91b63fa1421f408815d93fc235113e03aeea3fc51eb63ede5ef4be4ec9ee3edc50c1bda2ad7bbf6ef865bf43534d3f295becbfb5a81a3f3296d0bf5bc107c0535febbfecbefb3f8ef148be8652b13d26aab53f67266f3fd81cb2bf33775e3f039a3c3e6ef0aebebdfdc63ce1d0a33fb3ce62bfe340cd3e63391ebc7d09e6bf77604dbfc6d9453e4e0fa63f9d2b803febe2183fe8b550bf2e8ee63fff675c3e96d080bf714b3bbe8970653f359cf93b9009633fd8458d3f5c12cd3e66925bbfa1b40a3ed5ff383d10ffed3f512bd0bfe60e0abe288715bff792ab3e0e011cc0d9b58e3f5641613c2b1fecbfd2e3b8bef5e41b3f90b4cbbfd22b533b4c5b87bf09550ebf740adb3c62da3b3e2905f1bef8ab8b3efb66513fdacd8ebe9d3db73fd529bb3fd67edbbe854923bf9f03d5bf649b01be8414babee76f473f973cc1bf3f068ebea2ff773faff83abf202a43bf5735b9bf7bb72740675a3fbfc471a6bf24c94dbf343846bf75ed89be984b533fd0bd98be263e6cbf76c5b9bf340eb33c743d2e3d97f5c33f3d55bd3ddfc4cabdd37b86bfd1a59cbeb97fe0be2886bdbec39175bff8cf093f36dd11be76294dbedd65dbbfebbefc3e135af93e2fd156bf98787d3f66b0aebf8628b3bcb0db8abe2f99a8bf6741423ed2edd93fd1838a3d3011edbe5ae0e43eba83d83d696de33cabe0d9be4c03b63f75a8e93ef65607bf1e31ddbd71a93dbff8b81bbf9a0624bf1f3191bfa0fb463f630395be4edb0d3f5f8d2bbfaa3e77bdc20636bf2c3c383fa1617ebe881a3bbf5523d2bf2a248d3eb95835bf6b4381bc0cc4fbbec545743f124d0b3ffcf8e43e1dba1dbf92bdee3e9a7fdb3f250a55bfac79303e8b19d3bf1504b33f22bbcbbe1757483fbe92dcbfc515e63fddb7b6be33b00b3f16701a3e11cd82be0bc8d73f2ef3d2bffff0983e1320693fd394f4bc8603f2bdba1c12be31239dbf762b1c3d7541033fc07d8c3dc6678bbe3dbdfabef9ff8ebec3fda03f6d8b05c0f821243d7ecfa7beea57ba3fd14b633d0b12be3fd0ed07c0b64eeb3ebe638f3e04fdb13fb617d2bfb5c11ebe9a4a873de8d8fdbed2b89b3fc067adbe8d3902404def863fd669733f382e0f3f2d2788bfa9b8dcbed59f123f61742d3fcd51a73f6e54efbe03335cbf41ee5b3fb0434fbf5d915f3ff490993fe48ce93e9914b7bed645283d62ed173f29e1263ce3b00c409c9c7dbf725780bfd1157abfb6ee16bf9d730bc0c53021bfab3d27bff6cba03df5e9d53e69bf9ebff469663fe0afe63fb14855beff84c93fe7c34b3ec48efe3f25038f3f072ec8bf6d98983c1ff4863fd33cfa3c2f1317bda787a23f01b935bfe77c8f3c47b2a53ea6e6aabecae5a4bced67463fe59cdd3e1d084fbfef538dbf9a024abf3aa3a33a41c723be2bfb54bf632019bfa690c2bfecf0d53eadea23bdb640a1bf8c75ea3c0adbab3f706c3dbf6e56a83f389ca5be78934a3e9331c83d1f65b33f7b3c223ed32992bfe1cda7bfc236c4bfd721dbbf1ef83c3d085875bf8f80a5bd1b3034bf1f5245bf5c31f6be2f1e343f75dc6d3f540abe3e03657dbf05c5243f885b303f8f9e8c3ede861abfd277353fad7bd83e947a47c0cffa243f85f5f4bf2cdf293f28c51dbe44c8983fbf08c9bd27f962bfe1e316bebca7873f2603d73c8d28eabd86593e3f7268573eaf3ac2bb0edbae3ffa0dc73ff3021d3f3d6992bec89abf3f7670973fa509383f66a89bbf4c0c103e4d613ebf1cd422be7cd1753e6020cd3d274af3be26f0a23fd41ad9bf4fed3a3f03c2edbfe7e3c33e290c63bf84d8603f050eb13dbea67d3efa5682bfe99127bfcc30543ed764153f50763b40f934643e98dd793f9c49c7bfe639aabf6903b6be504599bf5542be3f2f08d2be56ebb03fe34ebe3fca392f3df375003f90c865bd02d7093f9578f73e043cfdbdb645013f14a2dc3f3b88363f35cfa63e2a87ff3d469f81bf777e83bffd8ea53e3548afbf0c2e44bf9008a43f7b05f53f0c3ed5bf0e36d03f488358bee6d775bc5b44e8bd454f8a3f59c8cdbf478ee93e03e371bf321f123f5a7ac53f9accdab94191bf3ec5b0d13e29b24cbf667dc13f8d6dda3f13a8333fac16963d597decbeaa6120bfb1fcda3f8d0bb53ff46082bd2a3bcabfaf3f35c0baad8abf5ac105bec749b33ff1d226bf963b013fa2cea63f069f033edbdd11be9085a7bfb6ea99bf030bd53eb4ba4dbeb3f1fa3d47a641bd58052a3f46e148bf3ad1abbe19b6f23fc9be4cbfa82a90be0ce216bf62bae33ec0dd823f9815ffbe57e2dcbeadd68ebe30a3073f03493dbfd37dc0be06d217c005ddb0bfe948e6bd6dda653f2c14973e72a48cbf983bb3bf57df323e128fd3bf4a70883f02dc823dabbccdbfc14877bf776c39bff2ef45bf20b6bebfe2e95fbff1342fbfd31636bfe260903ff6afd63d1b467ebf8653abbea72a61bf799a99be5e21603fa329813e4a4712408f79c03e54e169bf2b4b4f3f303b8a3faa0d8c3f16108cbf432e17be37df903f33a5d7bf8eb3ffbee5a5b6bfecbc6ebf329881bfac12a03fbd2a70bedf045dbfbb8e84bf3311113e357236bca10aac3f1801003f2645b7bfe10421bf23f8883f47ff1ebf7606de3fc0948cbfca96123f9f785cbfd47402bf539e8c3fe51d02be683e503f2553f23e57fd403f4d6063bf66e462bea437d93ed75c59bf7593d03f6bf846bf129a99beedd680bff62b09c06d01e63f3a3e51be1855e5bef67b4bbe1abeb53f3a1177bf29f82d3fc6fad8be6cbf18bfba2a113f56fd7c3f258f03bf4cd344bfeea495bf9d3f8d3ffa4313bf51b0ecbf5079b43f8e57afbfba8a473fb8d43b3ea769933e9e9915bfce2ebb3ed079d5bfa489163f1b4cc73f9b4f623f254001c01ff57bbf504d40bed94ff93eb86cdabd9986fcbe9a65183fed02953f7bde6dbe269b3a3f2b0f25c09d0070bf0d7ca4be5a25fabe8764aa3e94c2813f10b5013f2b4a1fbf11eac2bf33950e3f6049ebbf742d273fccf840bec38196bf6413933eff7c3cbb0be715bd447dacbdddcbd63eb5a76c3f5944fe3e958d813fdacb34bdad29cf3f4134123f882f0bbfc1048cbf66bc523e193ca7bf2b2f79bf3ed3743e839e1bbfd0ed6ebfb5350dbd26d8943d28c652bed44dc1bedec95a3fa352af3ed1c964be73b71d40d47b463e8be5903f739c0fbfd974aebf8eb04abf943889be6e43febeb40eab3f1fd8f5bda645ec3e06633ebdd5faddbeb5a11b3d0a66db3f479844bf7c59443f355483bf2854ebbe38d46a3ba31aa73e29d7bd3f75234dbd31f757bf2769263f7774babef168743e0806eebd32c3f8bfe51f023f9b57153ff8356d3f9075e63f29f998bfd539043f1d8fd13eea91d6be8251cb3ebad1ff3ed5fd9bbfd2217c3e05016bbf11e026bfd72ae3bf5d5cf2bed57450be6bc30c3f0ee96b3ab369c5bfbcb55c3f8bddf2bdb60bfa3e9747773fea17b63f7c09fb3feaf193bdb44b9f3ebc078abf84e2873f64aa97bf7d12e7bf2d94543fe78d05bf4511473f29efd03eeda3d0bf3a0f2ec0725d8cbf2819873c2b639cbf601b27bf92bebabf7df42d3ef202ba3d1879f6be09d3b23f20b5bf3f5ab5103fe75ee6bf7d668dbf6373d03e26e920bf0c64f9beba22663fb1c8023f3636a83f52c1dbbe6307b03f8cdb0dbf56efbf3fd5bfd83d5e4a5cbfcdcbd0bf945a9abeef3083bebb8f5b3f467de2bdb967ddbe5ddc893fef3866be958413bf9219133fc4cafabe42a7283f8fcf18bf694f64be48d41b3e7c8dbfbe8d635cbcc5c2503f663ad23eae41f63e92ab22bf0d535a3f70682b3fcf90803f1cf339bffd9830be472f223f4fdb1bbfa68c67becd80f63f4ed3f93f5fb69e3f1e47703fd27682bf4737033f21deb7be497f87bf354e02bfcfe1ec3d7f1f0cbf31010dbf3bc34a3fa790133ea30f6f3e5b1de53de2fa2cbfe76eafbf56029f3e27cd01bfa8b000c093fec8becccd8bbfbeda323f3b89053fc768fe3e2b402abff7463b3f23a9a33e74d8d1bed81be8be8688643f3b7cf2bedc789b3eb458843f5765f43fcbf9d43f529c663fb4c1c0bf7a6530bf714f0cbf6a9ad33f800633bf99b7c53e6493ce3d7f646fbf707ec33e77edcb3e3bbda0bf40879c3f618905c0dc3b17bf0cd3783facbc98bf0e56b33e23efa5bf7183bebddc1414c0c7b257bf737ec5bffab3cdbe3699d4be41752cbf0a444c3f8b0a63bf2a67223f1c8cd03fd5660e3e46905bbf53ea9fbf7ab435bf7763343f2d531f3ed0d16f3f6834453fab30103e0e6df23eb578ed3f3934b53f87019bbea25b7d3f52fa153f2a75913f10ef2b3f096379bfd351cfbfaf97123ffe88f33fec9146bf999a40be629384bf1ec3963fdb8713c0cfdf10c09c02c03ec9a3a8bd2691f5be19299abe0a78093f1eded3be0a688cbfa8676dbf2d6a633f7d5506bfc750b1bfdf42d13d5647013f631baa3f11225f3ed6e228bf29b1f23e22283a3f2c5b1fbddaad36bd2430853eec108fbdee0e803e0ece82bf8b4193bf650b56bff067243f1d81843e8d26853fe82b3fbed76292bfbb80923f5ebd99bc4148a43f0513193f54120c402b0c61bed895663f7030643fc31c0ebf349f30be3e1abbbff43ec6bf409b013e83024b3f8b55233fb417ae3eb1ee5c3f6ff616bf6a898bbe36ce3c3fbdc1dd3ebd3b57beca0fa93f4c60a5bf20c804bf831991be6e08513ffb501c3b9078a1bfc795033fb8348b3f10433d3ff0801e3f81e9efbff65e66bf45d3f63e6fd260bd56c6053f8417a2bfefe17bbd58e4b1bf2412fabf5b70973ee6b3573fdf827b3e512707bd16f0c7bf1ec8803f6c6834bdeed2fa3f833b713ffa5300c0f04a413fabc1b2bf4c6e42bf2e6380bed0a3c0bdab8dcb3eeaec82bfe04993bf43c1193fa71759bcd98e323e4f650cc0816335bed40664bf2cae6bbfeb036c3ff43e8cbf09e48bbf397aa9be428ce63eca4e62bf6ff89d3f9b94b93f84a661bfb6f67abe475747bf9abad7bf44249b3ee0cc3b3f62c20040a1bc65bfc009ab3f3fd2ab3f0f9a4a3e63271a3fd38e5f3f4faffc3f53a3f43e255376bd3dbd5dbf01539c3ed617833f237b7a3e0da947bf966db63dcf4004bed78b873e73b7d4bf7c000d3fa76d183fd4c3e33e999976bbeb28e7bfd54a9ebc82c5873f68315cbf62a0febf0131c5bffac7a03e9be9be3e1ce4623f425762bdc30ac0bf7d8951bf759f513f29de0f3e3c5b263fa39cde3e2ee151bed92e32be87b5ed3f2f50d43e74ac03becf2ce93e6c41643e20120ac0f06b263f8a14e93f6cc047bfd81dba3f6d8483bee241963e8f01893f045238bf0a0a9f3f796b9bbf240a60bff3f017bf2f79293f1787aebe868ec2bfcbba5dbebcc248bf0f363b3f81bcafbe00f2903d');
INSERT INTO golden.files VALUES (4, 'SHA256SUMS', '\x643734346531346261633939323065383464323366393830383035366338383962363161363461636539653937643864323166336235633739653563313636302020636f6e6669672e6a736f6e0a63396363653066336330626131643736323565356632393031343161613534646336343734396266363834326662386531353737313737653230646661356561202066656174757265732f66656174757265732e6a736f6e0a6535333166316462383461663264613838356161633462333937623965613666663463613565633935313239373732313733376639316233386139363936626420206861736865722f636f6e6669672e6a736f6e0a3939353030323866363233643563326266353632366239666334333933616339343836643830653839636632343035326538636430643437306162623236383820206861736865722f776569676874732e7361666574656e736f72730a2320303834653632383437636139626338383662363136333965343839616662666434353330373831333638626365666363643839336261663133313035313965640a');
INSERT INTO golden.files VALUES (5, 'words.json', '\x7b226d6f64656c223a202263646138303534666263373364623565222c20226d6f6e746873223a207b22323032362d3131223a205b313131302c20305d7d7d');
INSERT INTO golden.indexed_keys VALUES (0, 'year');
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 0);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 1);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 2);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 3);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 4);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 5);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 6);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 7);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 8);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 9);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 10);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 11);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 12);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 13);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 14);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 15);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 16);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 17);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 18);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 19);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 20);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 21);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 22);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 23);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 24);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 25);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 26);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 27);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 28);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 29);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 30);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 31);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 32);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 33);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 34);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 35);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 36);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 37);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 38);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 39);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 40);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 41);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 42);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 43);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 44);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 45);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 46);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 47);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 48);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 49);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 50);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 51);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 52);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 53);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 54);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 55);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 56);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 57);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 58);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 59);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 60);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 61);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 62);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 63);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 64);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 65);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 66);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 67);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 68);
INSERT INTO golden.key_values VALUES (0, '\x03c09f100000000000', 69);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef00000000000', 70);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef40000000000', 71);
INSERT INTO golden.key_values VALUES (0, '\x03c09ef80000000000', 72);
INSERT INTO golden.key_values VALUES (0, '\x03c09efc0000000000', 73);
INSERT INTO golden.key_values VALUES (0, '\x03c09f000000000000', 74);
INSERT INTO golden.key_values VALUES (0, '\x03c09f040000000000', 75);
INSERT INTO golden.key_values VALUES (0, '\x03c09f080000000000', 76);
INSERT INTO golden.key_values VALUES (0, '\x03c09f0c0000000000', 77);
INSERT INTO golden.vocabulary VALUES ('0', '0');
INSERT INTO golden.vocabulary VALUES ('1', '1');
INSERT INTO golden.vocabulary VALUES ('10', '10');
INSERT INTO golden.vocabulary VALUES ('11', '11');
INSERT INTO golden.vocabulary VALUES ('12', '12');
INSERT INTO golden.vocabulary VALUES ('13', '13');
INSERT INTO golden.vocabulary VALUES ('14', '14');
INSERT INTO golden.vocabulary VALUES ('15', '15');
INSERT INTO golden.vocabulary VALUES ('16', '16');
INSERT INTO golden.vocabulary VALUES ('18', '18');
INSERT INTO golden.vocabulary VALUES ('19', '19');
INSERT INTO golden.vocabulary VALUES ('2', '2');
INSERT INTO golden.vocabulary VALUES ('20', '20');
INSERT INTO golden.vocabulary VALUES ('21', '21');
INSERT INTO golden.vocabulary VALUES ('22', '22');
INSERT INTO golden.vocabulary VALUES ('23', '23');
INSERT INTO golden.vocabulary VALUES ('24', '24');
INSERT INTO golden.vocabulary VALUES ('25', '25');
INSERT INTO golden.vocabulary VALUES ('26', '26');
INSERT INTO golden.vocabulary VALUES ('27', '27');
INSERT INTO golden.vocabulary VALUES ('28', '28');
INSERT INTO golden.vocabulary VALUES ('29', '29');
INSERT INTO golden.vocabulary VALUES ('30', '30');
INSERT INTO golden.vocabulary VALUES ('31', '31');
INSERT INTO golden.vocabulary VALUES ('32', '32');
INSERT INTO golden.vocabulary VALUES ('33', '33');
INSERT INTO golden.vocabulary VALUES ('34', '34');
INSERT INTO golden.vocabulary VALUES ('35', '35');
INSERT INTO golden.vocabulary VALUES ('36', '36');
INSERT INTO golden.vocabulary VALUES ('37', '37');
INSERT INTO golden.vocabulary VALUES ('38', '38');
INSERT INTO golden.vocabulary VALUES ('39', '39');
INSERT INTO golden.vocabulary VALUES ('4', '4');
INSERT INTO golden.vocabulary VALUES ('40', '40');
INSERT INTO golden.vocabulary VALUES ('41', '41');
INSERT INTO golden.vocabulary VALUES ('42', '42');
INSERT INTO golden.vocabulary VALUES ('43', '43');
INSERT INTO golden.vocabulary VALUES ('44', '44');
INSERT INTO golden.vocabulary VALUES ('45', '45');
INSERT INTO golden.vocabulary VALUES ('46', '46');
INSERT INTO golden.vocabulary VALUES ('47', '47');
INSERT INTO golden.vocabulary VALUES ('48', '48');
INSERT INTO golden.vocabulary VALUES ('49', '49');
INSERT INTO golden.vocabulary VALUES ('5', '5');
INSERT INTO golden.vocabulary VALUES ('50', '50');
INSERT INTO golden.vocabulary VALUES ('51', '51');
INSERT INTO golden.vocabulary VALUES ('52', '52');
INSERT INTO golden.vocabulary VALUES ('53', '53');
INSERT INTO golden.vocabulary VALUES ('54', '54');
INSERT INTO golden.vocabulary VALUES ('55', '55');
INSERT INTO golden.vocabulary VALUES ('56', '56');
INSERT INTO golden.vocabulary VALUES ('57', '57');
INSERT INTO golden.vocabulary VALUES ('58', '58');
INSERT INTO golden.vocabulary VALUES ('59', '59');
INSERT INTO golden.vocabulary VALUES ('6', '6');
INSERT INTO golden.vocabulary VALUES ('60', '60');
INSERT INTO golden.vocabulary VALUES ('61', '61');
INSERT INTO golden.vocabulary VALUES ('62', '62');
INSERT INTO golden.vocabulary VALUES ('63', '63');
INSERT INTO golden.vocabulary VALUES ('64', '64');
INSERT INTO golden.vocabulary VALUES ('65', '65');
INSERT INTO golden.vocabulary VALUES ('66', '66');
INSERT INTO golden.vocabulary VALUES ('67', '67');
INSERT INTO golden.vocabulary VALUES ('68', '68');
INSERT INTO golden.vocabulary VALUES ('69', '69');
INSERT INTO golden.vocabulary VALUES ('7', '7');
INSERT INTO golden.vocabulary VALUES ('70', '70');
INSERT INTO golden.vocabulary VALUES ('71', '71');
INSERT INTO golden.vocabulary VALUES ('72', '72');
INSERT INTO golden.vocabulary VALUES ('73', '73');
INSERT INTO golden.vocabulary VALUES ('74', '74');
INSERT INTO golden.vocabulary VALUES ('75', '75');
INSERT INTO golden.vocabulary VALUES ('76', '76');
INSERT INTO golden.vocabulary VALUES ('77', '77');
INSERT INTO golden.vocabulary VALUES ('78', '78');
INSERT INTO golden.vocabulary VALUES ('79', '79');
INSERT INTO golden.vocabulary VALUES ('8', '8');
INSERT INTO golden.vocabulary VALUES ('9', '9');
INSERT INTO golden.vocabulary VALUES ('bank', 'bank');
INSERT INTO golden.vocabulary VALUES ('crop', 'crop');
INSERT INTO golden.vocabulary VALUES ('dollar', 'dollar');
INSERT INTO golden.vocabulary VALUES ('export', 'export');
INSERT INTO golden.vocabulary VALUES ('loan', 'loan');
INSERT INTO golden.vocabulary VALUES ('market', 'market');
INSERT INTO golden.vocabulary VALUES ('number', 'number');
INSERT INTO golden.vocabulary VALUES ('oil', 'oil');
INSERT INTO golden.vocabulary VALUES ('price', 'price');
INSERT INTO golden.vocabulary VALUES ('rate', 'rate');
INSERT INTO golden.vocabulary VALUES ('tonnes', 'tonnes');
INSERT INTO golden.vocabulary VALUES ('trade', 'trade');
INSERT INTO golden.vocabulary VALUES ('wheat', 'wheat');
INSERT INTO golden.vocabulary VALUES ('yen', 'yen');
INSERT INTO golden.words VALUES (0, 81, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7603932444776486245,7298153676995961756,-8319352521690347212,2910987215586812833,-8922900122303602827,3135708485371522297}');
INSERT INTO golden.words VALUES (1, 76, '{-2239325048899016822,-2738193757749546888,5358661254756969579,7603932444776486245,-649571662916077706,-7290120034516271654,1354678914095948962,-8319352521690347212,2910987215586812833,-9079935702160039705}');
INSERT INTO golden.words VALUES (2, 74, '{5358661254756969579,-6697097609126613285,-4418284550603383375,7298153676995961756,2910987215586812833,-7290120034516271654,1354678914095948962,-2727264827479230285,2014268979504181100}');
INSERT INTO golden.words VALUES (3, 75, '{-2239325048899016822,5358661254756969579,-4418284550603383375,7603932444776486245,8150806168444344502,-7290120034516271654,-8319352521690347212,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (4, 75, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,-7290120034516271654,1354678914095948962,-8407085121398793824,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (5, 75, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,1962751598315765836,2910987215586812833,-7290120034516271654,1354678914095948962,3135708485371522297,-9079935702160039705,-8319352521690347212}');
INSERT INTO golden.words VALUES (6, 72, '{-2239325048899016822,-1778895692996505726,-2738193757749546888,5358661254756969579,-4418284550603383375,-6697097609126613285,7298153676995961756,1354678914095948962,-7290120034516271654,-8319352521690347212,3135708485371522297}');
INSERT INTO golden.words VALUES (7, 76, '{5358661254756969579,-4418284550603383375,-6697097609126613285,-6685550320076835078,7603932444776486245,2910987215586812833,-8319352521690347212,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (8, 75, '{-2239325048899016822,-8162070783295358715,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,7298153676995961756,1354678914095948962,-7290120034516271654,2910987215586812833,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (9, 80, '{-669992733491016300,-2239325048899016822,5358661254756969579,-4418284550603383375,-6697097609126613285,7298153676995961756,1354678914095948962,-8319352521690347212,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (10, 75, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-2782860479467066698,7298153676995961756,2910987215586812833,-7290120034516271654,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (11, 78, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-4418284550603383375,7744513373483970787,7298153676995961756,2910987215586812833,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (12, 80, '{-2738193757749546888,-6252293056947779433,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,2910987215586812833,1354678914095948962,-7290120034516271654,-9079935702160039705}');
INSERT INTO golden.words VALUES (13, 68, '{5358661254756969579,5841359775533910823,-4418284550603383375,7298153676995961756,-7290120034516271654,-8319352521690347212,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (14, 77, '{-2239325048899016822,5358661254756969579,-6697097609126613285,-602109468927296797,7603932444776486245,2910987215586812833,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (15, 75, '{-2738193757749546888,5358661254756969579,-6697097609126613285,7603932444776486245,7298153676995961756,-8319352521690347212,8434961942249729798,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (16, 73, '{-2239325048899016822,1742185772413642127,-2738193757749546888,5358661254756969579,7603932444776486245,7298153676995961756,-7290120034516271654,2910987215586812833,1354678914095948962,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (17, 79, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7603932444776486245,-7290120034516271654,-8319352521690347212,2910987215586812833,-9079935702160039705,-6888732881706120518,-2727264827479230285}');
INSERT INTO golden.words VALUES (18, 76, '{-2239325048899016822,5358661254756969579,-4418284550603383375,-6697097609126613285,7660717256841499384,7298153676995961756,1354678914095948962,-7290120034516271654,-8319352521690347212,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (19, 81, '{5358661254756969579,-5109756570194964967,-6697097609126613285,7603932444776486245,7298153676995961756,-8319352521690347212,1354678914095948962,-2727264827479230285}');
INSERT INTO golden.words VALUES (20, 82, '{6125574002232610732,-2239325048899016822,-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,1354678914095948962,2910987215586812833,-7290120034516271654,-8319352521690347212}');
INSERT INTO golden.words VALUES (21, 72, '{-2239325048899016822,5358661254756969579,-6697097609126613285,-7290120034516271654,1354678914095948962,-8319352521690347212,3135708485371522297,-9079935702160039705,2910987215586812833,-2727264827479230285,2774368076249802464}');
INSERT INTO golden.words VALUES (22, 83, '{-320006747668707863,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,2910987215586812833,1354678914095948962,-9079935702160039705}');
INSERT INTO golden.words VALUES (23, 73, '{-2239325048899016822,-2738193757749546888,5358661254756969579,6925932688889117475,-8319352521690347212,2910987215586812833,-7290120034516271654,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (24, 79, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,8194071366621068887,2910987215586812833,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (25, 77, '{-2738193757749546888,-6236711129760812622,5358661254756969579,-6697097609126613285,7603932444776486245,-7290120034516271654,2910987215586812833,-8319352521690347212,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (26, 76, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7298153676995961756,1354678914095948962,-7290120034516271654,2910987215586812833,3135708485371522297,-9079935702160039705,7591109345808921544}');
INSERT INTO golden.words VALUES (27, 79, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,625545550176685521,7603932444776486245,-8319352521690347212,1354678914095948962,-7290120034516271654,-9079935702160039705}');
INSERT INTO golden.words VALUES (28, 78, '{-2239325048899016822,-7461503395492832476,5358661254756969579,-6697097609126613285,7603932444776486245,7298153676995961756,1354678914095948962,-8319352521690347212,2910987215586812833,-7290120034516271654,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (29, 79, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,-4399112411176889205,7603932444776486245,7298153676995961756,-7290120034516271654,1354678914095948962}');
INSERT INTO golden.words VALUES (30, 76, '{-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,-8319352521690347212,-7290120034516271654,2910987215586812833,1354678914095948962,-9079935702160039705,8450591260754163598,-2727264827479230285}');
INSERT INTO golden.words VALUES (31, 74, '{-2239325048899016822,-7670292779855664132,-2738193757749546888,5358661254756969579,7603932444776486245,7298153676995961756,-7290120034516271654,1354678914095948962,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (32, 78, '{-2239325048899016822,3220231712819306119,-2738193757749546888,5358661254756969579,-6697097609126613285,1354678914095948962,2910987215586812833,-7290120034516271654,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (33, 71, '{-2239325048899016822,5358661254756969579,-4418284550603383375,7298153676995961756,2910987215586812833,-7290120034516271654,-8319352521690347212,3135708485371522297,-9079935702160039705,-8884564761633448972,-2727264827479230285}');
INSERT INTO golden.words VALUES (34, 78, '{8525319303741530302,-2738193757749546888,5358661254756969579,-6697097609126613285,-8319352521690347212,1354678914095948962,-7290120034516271654,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (35, 79, '{-2635950886258523531,-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7298153676995961756,2910987215586812833,1354678914095948962,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (36, 75, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,5891620578387310353,-8319352521690347212,-7290120034516271654,2910987215586812833,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (37, 77, '{-2738193757749546888,5358661254756969579,7603932444776486245,5791250638486922978,7298153676995961756,1354678914095948962,-8319352521690347212,2910987215586812833,-7290120034516271654,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (38, 84, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,2910987215586812833,-8319352521690347212,1354678914095948962,-5191786162767889455,-9079935702160039705}');
INSERT INTO golden.words VALUES (39, 78, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7603932444776486245,2910987215586812833,-7290120034516271654,1354678914095948962,3135708485371522297,-2727264827479230285,-7139919324951642378}');
INSERT INTO golden.words VALUES (40, 74, '{-2738193757749546888,5358661254756969579,-4418284550603383375,-6697097609126613285,7603932444776486245,-7290120034516271654,2910987215586812833,3135708485371522297,-9079935702160039705,-2727264827479230285,6319743179241711738}');
INSERT INTO golden.words VALUES (41, 75, '{5358661254756969579,8628686323660025649,7603932444776486245,7298153676995961756,-8319352521690347212,-7290120034516271654,1354678914095948962,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (42, 72, '{5358661254756969579,-4418284550603383375,-4844650407067293290,7298153676995961756,-7290120034516271654,1354678914095948962,2910987215586812833,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (43, 76, '{5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,7298153676995961756,-8319352521690347212,-7290120034516271654,2910987215586812833,-9079935702160039705,-2727264827479230285,-4409909344429027203}');
INSERT INTO golden.words VALUES (44, 77, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,-4579007411054769133,2910987215586812833,-7290120034516271654,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (45, 81, '{-2738193757749546888,5358661254756969579,1062464292871659639,-6697097609126613285,7298153676995961756,-8319352521690347212,-7290120034516271654,-2727264827479230285}');
INSERT INTO golden.words VALUES (46, 79, '{5932668873100475470,-2738193757749546888,5358661254756969579,-4418284550603383375,-6697097609126613285,-8319352521690347212,1354678914095948962,2910987215586812833,-2727264827479230285}');
INSERT INTO golden.words VALUES (47, 78, '{-2239325048899016822,-3985549093455048760,5358661254756969579,-4418284550603383375,7603932444776486245,1354678914095948962,-8319352521690347212,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (48, 78, '{-2239325048899016822,-2738193757749546888,2660308494216254637,5358661254756969579,-6697097609126613285,7603932444776486245,2910987215586812833,1354678914095948962,-7290120034516271654,-2727264827479230285}');
INSERT INTO golden.words VALUES (49, 81, '{-2738193757749546888,3586178338192106934,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,-8319352521690347212,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (50, 72, '{3377267194089423700,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,1354678914095948962,-7290120034516271654,-8319352521690347212,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (51, 76, '{-2738193757749546888,5358661254756969579,-6697097609126613285,9085215684112577945,7298153676995961756,1354678914095948962,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (52, 73, '{-3641698192321734548,-2239325048899016822,5358661254756969579,7298153676995961756,-7290120034516271654,1354678914095948962,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (53, 81, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,7298153676995961756,-8319352521690347212,1354678914095948962,2910987215586812833,3135708485371522297,-9079935702160039705,1418680419447008469}');
INSERT INTO golden.words VALUES (54, 77, '{-2239325048899016822,5358661254756969579,-4418284550603383375,7603932444776486245,2500372166686333823,7298153676995961756,1354678914095948962,2910987215586812833,-7290120034516271654,-2727264827479230285}');
INSERT INTO golden.words VALUES (55, 72, '{-2239325048899016822,5358661254756969579,-4418284550603383375,1354678914095948962,-7290120034516271654,-8319352521690347212,2910987215586812833,-9079935702160039705,-8628887735593378660,-2727264827479230285}');
INSERT INTO golden.words VALUES (56, 68, '{-2239325048899016822,4607388048970825422,5358661254756969579,-4418284550603383375,-7290120034516271654,1354678914095948962,2910987215586812833,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (57, 76, '{5358661254756969579,-6697097609126613285,-4418284550603383375,7298153676995961756,-7290120034516271654,-8319352521690347212,3135708485371522297,-2727264827479230285,-6270236211579705752}');
INSERT INTO golden.words VALUES (58, 84, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,3414223954376217427,7603932444776486245,7298153676995961756,1354678914095948962,-8319352521690347212,2910987215586812833}');
INSERT INTO golden.words VALUES (59, 77, '{-2738193757749546888,5358661254756969579,-4418284550603383375,-1793276403457090171,7298153676995961756,1354678914095948962,-7290120034516271654,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (60, 74, '{-2239325048899016822,5358661254756969579,-4418284550603383375,7603932444776486245,6664130503876327269,1354678914095948962,-7290120034516271654,-8319352521690347212,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (61, 78, '{-2239325048899016822,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,7298153676995961756,2910987215586812833,3135708485371522297,-9079935702160039705,-2727264827479230285,8021260812906271597}');
INSERT INTO golden.words VALUES (62, 83, '{-2239325048899016822,6456304688997881806,-2738193757749546888,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,7298153676995961756,2910987215586812833,-7290120034516271654}');
INSERT INTO golden.words VALUES (63, 79, '{-2239325048899016822,5358661254756969579,-6697097609126613285,-4418284550603383375,7603932444776486245,7298153676995961756,-7290120034516271654,1354678914095948962,-2727264827479230285,3695277572730007841}');
INSERT INTO golden.words VALUES (64, 74, '{5358661254756969579,-6697097609126613285,-4418284550603383375,1035367362361933335,7298153676995961756,-7290120034516271654,1354678914095948962,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (65, 74, '{-3817418651608880885,-2738193757749546888,5358661254756969579,7603932444776486245,2910987215586812833,-8319352521690347212,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (66, 77, '{-2738193757749546888,5358661254756969579,-6697097609126613285,7603932444776486245,3994887349717137666,7298153676995961756,1354678914095948962,-7290120034516271654,-9079935702160039705}');
INSERT INTO golden.words VALUES (67, 79, '{-2239325048899016822,3795512345256537003,5358661254756969579,-4418284550603383375,-6697097609126613285,7603932444776486245,-8319352521690347212,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (68, 82, '{-26320742880355783,-2738193757749546888,5358661254756969579,7603932444776486245,7298153676995961756,-8319352521690347212,1354678914095948962,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (69, 75, '{-2239325048899016822,1520947013988716706,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,-7290120034516271654,2910987215586812833,-8319352521690347212,3135708485371522297,1354678914095948962,-2727264827479230285}');
INSERT INTO golden.words VALUES (70, 74, '{-2738193757749546888,5358661254756969579,7603932444776486245,855094277003771932,-7290120034516271654,1354678914095948962,-8319352521690347212,3135708485371522297}');
INSERT INTO golden.words VALUES (71, 76, '{-2239325048899016822,7137985937186816118,-2738193757749546888,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,-7290120034516271654,2910987215586812833,3135708485371522297,-9079935702160039705}');
INSERT INTO golden.words VALUES (72, 82, '{-2738193757749546888,5358661254756969579,-6932796064939003946,-6697097609126613285,7603932444776486245,7298153676995961756,-8319352521690347212,-7290120034516271654,3135708485371522297,-2727264827479230285}');
INSERT INTO golden.words VALUES (73, 75, '{-2239325048899016822,-2866644071260820365,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,-7290120034516271654,-8319352521690347212,1354678914095948962,3135708485371522297}');
INSERT INTO golden.words VALUES (74, 79, '{-2239325048899016822,-3686622714495068280,5358661254756969579,-4418284550603383375,-6697097609126613285,7298153676995961756,1354678914095948962,2910987215586812833,-9079935702160039705}');
INSERT INTO golden.words VALUES (75, 79, '{-2239325048899016822,5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,2910987215586812833,-7290120034516271654,1354678914095948962,-4045834713131405004,-2727264827479230285}');
INSERT INTO golden.words VALUES (76, 73, '{-2738193757749546888,-1658803027301378375,5358661254756969579,7603932444776486245,7298153676995961756,-7290120034516271654,2910987215586812833,1354678914095948962,3135708485371522297,-9079935702160039705,-2727264827479230285}');
INSERT INTO golden.words VALUES (77, 79, '{5358661254756969579,-4418284550603383375,7603932444776486245,7298153676995961756,-8319352521690347212,-7290120034516271654,2910987215586812833,6429818580404077843}');
ALTER TABLE ONLY golden.codes_1
    ADD CONSTRAINT codes_1_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY golden.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY golden.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (number);
ALTER TABLE ONLY golden.indexed_keys
    ADD CONSTRAINT indexed_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY golden.key_values
    ADD CONSTRAINT key_values_pkey PRIMARY KEY (key, value, "position");
ALTER TABLE ONLY golden.keyed_changes
    ADD CONSTRAINT keyed_changes_name_key UNIQUE (name);
ALTER TABLE ONLY golden.keyed_changes
    ADD CONSTRAINT keyed_changes_pkey PRIMARY KEY (number);
ALTER TABLE ONLY golden.vocabulary
    ADD CONSTRAINT vocabulary_pkey PRIMARY KEY (word);
ALTER TABLE ONLY golden.words
    ADD CONSTRAINT words_pkey PRIMARY KEY ("position");
CREATE INDEX documents_id ON golden.documents USING hash (id);
CREATE INDEX key_values_position ON golden.key_values USING btree ("position");
CREATE INDEX words_by_stem ON golden.vocabulary USING btree (stem);
CREATE INDEX words_words ON golden.words USING gin (words);
